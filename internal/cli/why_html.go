package cli

import (
	"html/template"
	"io"
)

// html writes the page as one file that needs no other.
func (p whyPage) html(w io.Writer) error { return whyTemplate.Execute(w, p) }

var whyTemplate = template.Must(template.New("why").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin: 1.8em 0 .4em; border-bottom: 1px solid #ddd }
table { border-collapse: collapse } td { vertical-align: top; padding: .25em .8em .25em 0 }
td:first-child { font-family: ui-monospace, monospace; font-size: .87em; white-space: nowrap }
.below { color: #666; font-size: .87em; overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } h2 { border-color: #444 } .below { color: #999 } }
</style>
<h1>{{.Title}}</h1>
{{range .Lead}}<p>{{.}}</p>
{{end}}{{range .Sections}}<h2>{{.Title}}</h2>
<table>
{{range .Items}}<tr><td>{{.Mark}}</td><td>{{.Text}}{{range .Lines}}<div class="below">{{.}}</div>{{end}}</td></tr>
{{end}}</table>
{{with .Note}}<p class="below">{{.}}</p>
{{end}}{{end}}</html>
`))
