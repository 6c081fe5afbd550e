package main

import (
	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

// noArguments refuses arguments, in one line.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q takes no argument, but got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// oneElection asks for the name of one election.
func oneElection(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%q takes the name of one election, but got %d arguments; see %q",
			cmd.CommandPath(), len(args), cmd.CommandPath()+" --help")
	}
	return tenure.CheckElection(args[0])
}

// someElections asks for one or more names of elections.
func someElections(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%q needs the name of an election; see %q", cmd.CommandPath(), cmd.CommandPath()+" --help")
	}
	return anyElections(cmd, args)
}

// anyElections takes any number of names of elections.
func anyElections(_ *cobra.Command, args []string) error {
	for _, name := range args {
		if err := tenure.CheckElection(name); err != nil {
			return err
		}
	}
	return nil
}
