/** HTML that is escaped by type: strings become text, and only `Html` values are markup. */
import { escapeHtml } from '#base';

export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = string | number | Html | readonly Html[];

export const nothing = new Html('');

/** A template whose values are escaped, for content and quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    strings.reduce((text, string, index) => {
      const part = parts[index - 1]!;
      return `${text}${markupOf(part)}${string}`;
    }),
  );
}

function markupOf(part: Part): string {
  if (part instanceof Html) return part.markup;
  if (typeof part === 'string' || typeof part === 'number') {
    return escapeHtml(String(part));
  }
  return part.map(({ markup }) => markup).join('');
}

/** Renders text between backticks as code, as in CommonMark. */
export function withCode(text: string): Html {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}
