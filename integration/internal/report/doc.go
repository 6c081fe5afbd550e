// Package report shows what became of a chaos run: as a page of HTML that needs nothing but itself, as Markdown, and as
// a summary in JSON, from a directory of which the tables of the documents are made.
package report
