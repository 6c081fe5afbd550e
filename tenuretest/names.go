package tenuretest

import (
	"strings"

	"github.com/tenure-go/tenure"
)

// awkwardNames returns names that mean something to somebody: to file systems, to SQL, to shells, to URLs, to the
// subject, key and pattern syntaxes of servers. Those with unique in them are used only once.
func awkwardNames(unique string) []string {
	names := []string{
		".", "..", "...", "/", "//", " ", "*", ">", "?", "-", "--", ":", "%", "%s", "#", "~", "$", "&", "|", "\\", "'", "\"",
		"0", "null", "NUL", "con.txt", "COM1", "_", "__proto__", "選挙", "🗳️",
	}
	for _, pattern := range []string{
		"N b", " N", "N ", "N\u00a0b", "N\u200bb", "\ufeffN", "\u202eN", "Né", "N選挙", "N🗳️", "N\ufffd",
		"N/b", "/N", "N/", "N//b", "N/./b", "N/../b", "../N", "N\\b", "C:\\N", "//host/N", "N.json", "N.lock", "N.tmp",
		".N", "N.", "N..", "N..b", "N.*", "N.>", "N*", "*N", "N?", "N[a-z]", "N{b,c}", "{N}", "N}b",
		"-N", "--N", "N:b", "N::b", "N;b", "N,b", "N=b", "N@b", "N~1", "~N", "N^b", "N!b", "N|b", "N&b=c", "N#b",
		"N%", "N%b", "N%00", "N%2Fb", "N%2fc", "N%25d", "N+b", "N&amp;", "N<b>", "N</b>", "N_%",
		"N'b", "N''c", "N\"b\"", "N`b`", "N'; DROP TABLE elections; --", "N' OR '1'='1", "N$1", "${N}", "$(N)", "%N%",
	} {
		names = append(names, strings.ReplaceAll(pattern, "N", unique))
	}
	return names
}

// twinNames returns names that are easily taken for one another.
func twinNames(unique string) []string {
	var names []string
	for _, pattern := range []string{
		"Na", "NA", "Nß", "Nss", "NSS", "N\u00e9", "Ne\u0301", "Ne", "Nk", "N\u212a", "Nı", "Ni", "NI",
		"N1", "N\uff11", "N01",
		"Nb", "Nb.", "Nb ", " Nb", "Nb/", "Nb/.", "/Nb", "./Nb", "Nb\u200b", "Nb.json",
		"Nc d", "Nc+d", "Nc%20d", "Nc%2520d", "Nc/d", "Nc%2Fd", "Nc%2fd", "Nc//d", "Nc\\d",
		"Nc_d", "Nc-d", "Nc.d", "Nc:d", "Nc=d",
		"N*", "N?", "N%", "N_",
	} {
		names = append(names, strings.ReplaceAll(pattern, "N", unique))
	}
	return names
}

// longNames returns names of 255 bytes, some of which get longer in most encodings.
func longNames(unique string) []string {
	fill := func(with, end string) string {
		room := 255 - len(unique) - len(end)
		return unique + strings.Repeat(with, room/len(with)) + strings.Repeat("-", room%len(with)) + end
	}
	return []string{
		fill("x", "a"), fill("x", "b"), fill("x", "aa"),
		fill("/", ""), fill("..", ""), fill("%", "c"), fill(" ", "d"), fill("選", ""),
	}
}

func nameAny(c *trial)      { c.holdsAll(awkwardNames(nonce())) }
func nameDistinct(c *trial) { c.holdsAll(twinNames(nonce())) }
func nameLong(c *trial)     { c.holdsAll(longNames(nonce())) }

// holdsAll fails the rule unless every name holds a record of its own.
func (c *trial) holdsAll(names []string) {
	c.Helper()
	var wrong []string
	sessions := make(map[string]string)
	for _, name := range names {
		session, err := c.put(name)
		if err != nil {
			wrong = append(wrong, quote(name)+": "+err.Error())
			continue
		}
		sessions[name] = session
	}
	for _, name := range names {
		session, written := sessions[name]
		if got := c.load(name); written && got.Record.Session != session {
			wrong = append(wrong, quote(name)+": another record than the one that was written to it")
		}
	}
	if len(wrong) > 0 {
		c.fail("%d of %d names failed:\n        %s", len(wrong), len(names), strings.Join(wrong, "\n        "))
	}
}

// put writes a held record whether or not the election has one already: some names cannot be made unique, and the
// data may be from an earlier run. It returns the session of the new record.
func (c *trial) put(election string) (session string, err error) {
	current, err := c.look(c.store, election)
	if err != nil {
		return "", err
	}
	record := c.held()
	record.Token = max(record.Token, min(current.Record.Token+1, tenure.MaxToken))
	_, err = c.try(c.store, election, current.Version, record)
	return record.Session, err
}
