package file

import (
	"fmt"
	"testing"
)

const mountTable = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,barrier=0
23 22 0:20 / /proc rw,nosuid - proc proc rw
40 22 0:33 / /mnt/remote rw,nosuid,nodev shared:7 master:2 - fuse.sshfs me@host:/ rw,user_id=0
41 22 8:17 / /mnt/with\040space rw - fuseblk /dev/sdb1 rw,blksize=4096
42 22 0:35 / /data/me rw - fuse.fuse-overlayfs fuse-overlayfs rw
`

func TestClassify(t *testing.T) {
	tests := []struct {
		magic  uint32
		device string
		want   fileSystem
	}{
		{0xEF53, "254:0", fileSystem{name: "ext4", kind: localKind, unsynced: true}},
		{0xEF53, "254:1", fileSystem{name: "ext4", kind: localKind}},
		{0x01021994, "", fileSystem{name: "tmpfs", kind: volatileKind}},
		{0x6969, "", fileSystem{name: "NFS", kind: networkKind}},
		{0xFF534D42, "", fileSystem{name: "CIFS", kind: networkKind}},
		{fuseMagic, "0:33", fileSystem{name: "FUSE fuse.sshfs", kind: networkKind}},
		{fuseMagic, "8:17", fileSystem{name: "FUSE fuseblk", kind: localKind}},
		{fuseMagic, "0:35", fileSystem{name: "FUSE fuse.fuse-overlayfs", kind: layeredKind}},
		{fuseMagic, "0:99", fileSystem{name: "FUSE ", kind: networkKind}},
		{0x1234, "0:20", fileSystem{name: "type 0x1234 proc"}},
	}
	for _, test := range tests {
		if got := classify(test.magic, findMount([]byte(mountTable), test.device)); got != test.want {
			t.Errorf("%#x on %s: %+v, want %+v", test.magic, test.device, got, test.want)
		}
	}
}

func TestEveryNetworkFileSystemIsOne(t *testing.T) {
	refused := 0
	for magic, found := range magics {
		if found.kind == unknownKind || found.name == "" {
			t.Errorf("%#x has no name or kind: %s", magic, fmt.Sprint(found))
		}
		if found.kind == networkKind {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("only %d network file systems are known", refused)
	}
}

func TestDeviceOfRealDirectory(t *testing.T) {
	// The process file system is mounted once, under a device of its own.
	if found, err := fileSystemOf("/proc/self"); err != nil || found.name != "type 0x9fa0 proc" {
		t.Errorf("%+v, %v", found, err)
	}
}
