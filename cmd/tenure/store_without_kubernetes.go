//go:build !kubernetes

package main

func init() {
	leftOut["kubernetes"] = `build one with "go build -tags kubernetes ./cmd/tenure" in a clone, ` +
		`or take the image of deploy/docker/Dockerfile, which is built so`
}
