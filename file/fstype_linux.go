package file

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// fuseMagic is that of every file system in user space, local or not: the mount table says which it is.
const fuseMagic = 0x65735546

// magics are the file systems by the number that statfs(2) returns, from the kernel's and the vendors' headers.
var magics = map[uint32]fileSystem{
	0xEF53:     {name: "ext4", kind: localKind},
	0x58465342: {name: "XFS", kind: localKind},
	0x9123683E: {name: "Btrfs", kind: localKind},
	0x2FC12FC1: {name: "ZFS", kind: localKind},
	0xCA451A4E: {name: "bcachefs", kind: localKind},
	0xF2F52010: {name: "F2FS", kind: localKind},
	0x3153464A: {name: "JFS", kind: localKind},
	0x52654973: {name: "ReiserFS", kind: localKind},
	0x3434:     {name: "NILFS", kind: localKind},
	0x24051905: {name: "UBIFS", kind: localKind},
	0x4D44:     {name: "FAT", kind: localKind},
	0x2011BAB0: {name: "exFAT", kind: localKind},
	0x7366746E: {name: "NTFS", kind: localKind},
	0x482B:     {name: "HFS+", kind: localKind},
	0xF15F:     {name: "eCryptfs", kind: localKind},
	0x01021994: {name: "tmpfs", kind: volatileKind},
	0x858458F6: {name: "ramfs", kind: volatileKind},
	0x794C7630: {name: "overlay", kind: layeredKind},
	0x61756673: {name: "aufs", kind: layeredKind},

	0x6969:     {name: "NFS", kind: networkKind},
	0x517B:     {name: "SMB", kind: networkKind},
	0xFF534D42: {name: "CIFS", kind: networkKind},
	0xFE534D42: {name: "SMB2", kind: networkKind},
	0x564C:     {name: "NCP", kind: networkKind},
	0x01021997: {name: "9P", kind: networkKind},
	0x5346414F: {name: "OpenAFS", kind: networkKind},
	0x6B414653: {name: "AFS", kind: networkKind},
	0x73757245: {name: "Coda", kind: networkKind},
	0x00C36400: {name: "Ceph", kind: networkKind},
	0x0BD00BD0: {name: "Lustre", kind: networkKind},
	0x01161970: {name: "GFS2", kind: networkKind},
	0x7461636F: {name: "OCFS2", kind: networkKind},
	0x47504653: {name: "GPFS", kind: networkKind},
	0x19830326: {name: "BeeGFS", kind: networkKind},
	0xAAD7AAEA: {name: "PanFS", kind: networkKind},
	0x20030528: {name: "OrangeFS", kind: networkKind},
	0x013111A8: {name: "IBRIX", kind: networkKind},
	0x61636673: {name: "ACFS", kind: networkKind},
	0xBEEFDEAD: {name: "SNFS", kind: networkKind},
	0x786F4256: {name: "vboxsf", kind: networkKind},
	0xBACBACBC: {name: "vmhgfs", kind: networkKind},
	0x7C7C6673: {name: "prl_fs", kind: networkKind},
}

// localFUSE are the file systems in user space that are certain to be on this host alone. All others count as network
// file systems: the kernel keeps the locks of most on this host only, wherever the files are.
var localFUSE = map[string]fileSystemKind{"fuseblk": localKind, "fuse.fuse-overlayfs": layeredKind}

func fileSystemOf(path string) (fileSystem, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return fileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		table = nil // without it, less is known
	}
	return classify(uint32(stat.Type), findMount(table, deviceOf(path))), nil
}

// classify joins what statfs and the mount table tell. Where the two do not go together, as with Btrfs subvolumes, the
// mount is the zero one.
func classify(magic uint32, m mount) fileSystem {
	if magic == fuseMagic {
		kind, local := localFUSE[m.kind]
		if !local {
			kind = networkKind
		}
		return fileSystem{name: "FUSE " + m.kind, kind: kind}
	}
	found, known := magics[magic]
	if !known {
		return fileSystem{name: fmt.Sprintf("type %#x %s", magic, m.kind)}
	}
	found.unsynced = slices.Contains(m.options, "nobarrier") || slices.Contains(m.options, "barrier=0")
	return found
}

// mount is a line of the mount table.
type mount struct {
	kind    string
	options []string // of the super block
}

// findMount returns the mount of a device, "major:minor", in a table like /proc/self/mountinfo.
func findMount(table []byte, device string) mount {
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) > 2 && left[2] == device && len(right) > 2 {
			return mount{kind: right[0], options: strings.Split(right[2], ",")}
		}
	}
	return mount{}
}

func deviceOf(path string) string {
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return ""
	}
	// The encoding of dev_t in user space.
	dev := uint64(stat.Dev)
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&^0xff
	return fmt.Sprintf("%d:%d", major, uint32(minor))
}
