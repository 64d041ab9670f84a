package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// Between these lines of README.md the table stands.
const (
	beginMark = "<!-- clients:begin -->\n"
	endMark   = "<!-- clients:end -->\n"
)

// tally counts libraries; a language that could not be run counts as one that failed, one without a toolchain as one that was
// skipped, or failed.
type tally struct{ passed, failed, skipped int }

func summarise(results []result, requireAll bool) (t tally) {
	for _, r := range results {
		if r.failed != "" || r.skipped != "" && requireAll {
			t.failed++
		} else if r.skipped != "" {
			t.skipped++
		}
		for _, row := range r.rows {
			if row.failures() != nil {
				t.failed++
			} else {
				t.passed++
			}
		}
	}
	return t
}

func (t tally) String() string {
	return fmt.Sprintf("clients: %d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

// console is the table for a screen.
func console(results []result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "language\tlibrary\t%s\n", strings.Join(checks, "\t"))
	for _, r := range results {
		for _, row := range r.rows {
			fmt.Fprintf(w, "%s\t%s\t", row.Language, row.name())
			cells := make([]string, len(checks)+1)
			for i, name := range checks {
				cells[i] = brief(row.Checks[name], "FAILED")
			}
			if cells[len(checks)] = row.Note; row.refused() {
				cells[0] = refused
			}
			if row.failures() != nil {
				cells[len(checks)] = "FAILED " + row.Note
			}
			fmt.Fprint(w, strings.Join(cells, "\t"))
			fmt.Fprintln(w)
		}
		if why := r.skipped + r.failed; why != "" {
			fmt.Fprintf(w, "%s\t%s\n", r.language, oneLine(why))
		}
	}
	w.Flush() // into memory: it does not fail
	return b.String()
}

// brief is a check's result in a cell; one that was not made is empty.
func brief(text, failed string) string {
	if text == passed || text == hasNone || text == "" {
		return text
	}
	return failed
}

// markdown is the table for README.md: what works first, then what is refused.
func markdown(results []result) string {
	var works, not strings.Builder
	for _, r := range results {
		for _, row := range r.rows {
			if row.refused() {
				why := row.Note
				if failures := row.failures(); failures != nil {
					why += "; **" + strings.Join(failures, "; ") + "**"
				}
				fmt.Fprintf(&not, "| %s | %s | %s |\n", row.Language, cell(row.name()), cell(why))
				continue
			}
			fmt.Fprintf(&works, "| %s | %s %s | %s |", row.Language, cell(row.Library), cell(row.Version), cell(row.How))
			for _, name := range checks {
				fmt.Fprintf(&works, " %s |", brief(row.Checks[name], "**no**"))
			}
			notes := row.failures()
			if row.Note != "" {
				notes = append([]string{row.Note}, notes...)
			}
			fmt.Fprintf(&works, " %s |\n", cell(strings.Join(notes, "; ")))
		}
	}
	head := "| | library | how | " + strings.Join(checks, " | ") + " | |\n" +
		"| --- | --- | --- |" + strings.Repeat(" --- |", len(checks)+1) + "\n"
	text := "\n" + head + works.String()
	if not.Len() > 0 {
		text += "\nRefused, with an error that says what is missing:\n\n| | library | needs |\n| --- | --- | --- |\n" + not.String()
	}
	return text + "\n"
}

// cell keeps a text within its cell.
func cell(text string) string { return strings.ReplaceAll(oneLine(text), "|", `\|`) }

// writeReadme puts the table of a whole run between the marks.
func writeReadme(path string, results []result) error {
	if i := slices.IndexFunc(results, func(r result) bool { return r.skipped+r.failed != "" }); i >= 0 {
		return fmt.Errorf("README.md is left as it was: %s was not run", results[i].language)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	next, err := between(string(old), markdown(results))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(next), 0o644)
}

// between replaces what stands between the marks.
func between(text, table string) (string, error) {
	head, rest, begun := strings.Cut(text, beginMark)
	_, tail, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", errors.New("README.md has no lines " + strings.TrimSpace(beginMark) + " and " + strings.TrimSpace(endMark))
	}
	return head + beginMark + table + endMark + tail, nil
}
