/** Whether a schema, as JSON text, may refer to another document: there is only the meta-schema with its parts. */
export function refersOutside(text: string): boolean {
  return /[rR]ef":"[^#]/.test(text);
}
