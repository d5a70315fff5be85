/** The page of a share's owner for failures of the gateway, for browsers. ADR 0092. */
import { Part, Type } from '#base/shapes';

const MAX_PAGE = 8_192;
export const ERROR_PAGE_RULE = `HTML page that begins with < and has at most ${MAX_PAGE} characters`;
const PLACEHOLDER = /\{\{(status|message|errorId)\}\}/g;

/** A field of a share's upstream settings. */
export const errorPageField = Part.nullable(
  Type.String({
    maxLength: MAX_PAGE,
    description:
      'HTML page for browsers, instead of that of the gateway, for failures with 5xx and for maintenance. `{{status}}`, `{{message}}` and `{{errorId}}` are replaced. It runs no script and loads nothing: styles are inline, images are data. null: the page of the gateway',
  }),
);

export function isErrorPage(text: string): boolean {
  return text.length <= MAX_PAGE && /^\s*</.test(text) && text.isWellFormed() && !text.includes('\0');
}

interface PageValues {
  readonly status: string;
  readonly message: string;
  readonly errorId: string;
}

/** `values` are escaped already. */
export function filledErrorPage(page: string, values: PageValues): string {
  return page.replaceAll(PLACEHOLDER, (_, name: keyof PageValues) => values[name]);
}
