/** Which language a browser prefers, by its header `Accept-Language` (RFC 9110 §12.5.4). Pure. */

const MAX_HEADER_CHARS = 500;
const RANGE = /^([a-z]{1,8}|\*)(?:-[a-z\d-]*)?(?:;q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/** Returns the first of the offered languages if the browser names none of them. Regions do not count: de-CH is de. */
export function acceptedLanguage<Language extends string>(
  header: string | undefined,
  offered: readonly Language[],
): Language {
  let best: { readonly language: Language; readonly weight: number } | undefined;
  for (const range of (header ?? '').slice(0, MAX_HEADER_CHARS).split(',')) {
    const [, name = '', quality = '1'] = RANGE.exec(range.replaceAll(/\s/g, '')) ?? [];
    const language = offered.find((each) => each === name.toLowerCase());
    const weight = Number(quality);
    if (language !== undefined && weight > (best?.weight ?? 0)) best = { language, weight };
  }
  return best?.language ?? offered[0]!;
}
