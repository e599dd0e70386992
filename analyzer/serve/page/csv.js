/* csv.js: a field of CSV. */

/* A spreadsheet would take a text that begins so for a formula. */
const harmless = (text) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

export function csvField(text) {
  const shown = harmless(text);
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
