package file

import "syscall"

// bootID names this boot of this host, empty if the system does not tell.
func bootID() string {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
