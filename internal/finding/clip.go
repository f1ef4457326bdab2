package finding

import "unicode/utf8"

// Clip cuts a text down to so many characters, the last of which says that it was cut.
func Clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
