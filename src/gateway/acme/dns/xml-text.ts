/**
 * Reads single elements from the XML of a service whose form is fixed, and which nests no element in one of the same name. It
 * is no parser: comments and CDATA are not recognised.
 */
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The contents of all elements of a name, in order. */
export function xmlBlocks(xml: string, name: string): readonly string[] {
  const blocks: string[] = [];
  const opening = new RegExp(`<${name}(?:\\s[^<>]*)?>`, 'g');
  for (let match = opening.exec(xml); match !== null; match = opening.exec(xml)) {
    const end = xml.indexOf(`</${name}>`, opening.lastIndex);
    if (end === -1) break;
    blocks.push(xml.slice(opening.lastIndex, end));
    opening.lastIndex = end;
  }
  return blocks;
}

/** The text of the first element of a name. */
export function xmlText(xml: string, name: string): string | undefined {
  return xmlBlocks(xml, name)[0]?.replaceAll(/&(?:#(\d{1,7})|(\w{1,8}));/g, (whole, number, entity) =>
    number === undefined ? (ENTITIES[String(entity)] ?? whole) : characterOf(Number(number), whole),
  );
}

export function xmlEscaped(text: string): string {
  return text.replaceAll(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function characterOf(code: number, otherwise: string): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : otherwise;
}
