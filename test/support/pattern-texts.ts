/** Texts that a pattern of the API's description allows, as fast-check draws them. */
import { fc } from './fast-check.ts';

/**
 * fast-check draws by no lookahead: what is drawn without them is kept when the whole pattern takes it, or is given as it
 * comes.
 */
export function textsLike(pattern: string): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(withoutLookaheads(pattern), 'u'));
}

export function textsMatching(pattern: string): fc.Arbitrary<string> {
  const form = new RegExp(pattern, 'u');
  return textsLike(pattern).filter((text) => form.test(text));
}

function withoutLookaheads(pattern: string): string {
  let text = pattern;
  for (let start = text.search(/\(\?[!=]/); start !== -1; start = text.search(/\(\?[!=]/)) {
    let depth = 0;
    let end = start;
    do {
      if (text[end] === '\\') end += 1;
      else if (text[end] === '(') depth += 1;
      else if (text[end] === ')') depth -= 1;
      end += 1;
    } while (depth > 0);
    text = text.slice(0, start) + text.slice(end);
  }
  return text;
}
