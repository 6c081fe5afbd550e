// Package deploytest checks what is in deploy: that systemd accepts its units and runs them, that an image built as its
// Dockerfile says works, and that its Kubernetes manifests are valid and fit together and the command. It has tests
// alone, and is a module of its own because they need parsers that nobody who uses tenure should have to require.
package deploytest
