/** A number as someone has typed it. Other text is sent, too, so that the API names the field. */
export function numberOf(text: string): number {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? (text as unknown as number) : number;
}
