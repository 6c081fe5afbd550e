package main

const workerArgument = "worker"

func worker() {}
