/**
 * Documents as HTML. They are GitHub's Markdown and nothing else, so that they read the same there: headings have GitHub's
 * anchors, and no document needs a syntax of the site.
 */
import { Marked, type Token, type Tokens } from 'marked';

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** A heading with the text below it, for the search. The first one of a page may have no heading. */
export interface TextSection {
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

export interface RenderedDocument {
  /** The text of the first heading. */
  readonly title: string;
  /** Without the first heading. */
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly TextSection[];
}

const marked = new Marked({ gfm: true });

/** The headings of a document, with the anchors that GitHub gives them. */
export function headingsOf(text: string): Heading[] {
  return headingsOfTokens(marked.lexer(text));
}

/** Whether a link was written as one: a bare address is an example, and GitHub makes links of those, too. */
const isWritten = (raw: string): boolean => /^!?\[/.test(raw);

/** Where the links and images of a document lead, as they are written there. */
export function linksOf(text: string): string[] {
  const found: string[] = [];
  void marked.walkTokens(marked.lexer(text), (token) => {
    if ((token.type === 'link' || token.type === 'image') && isWritten(token.raw))
      found.push((token as Tokens.Link).href);
  });
  return found;
}

/** `addressOf` returns where a link leads, relative to the page. */
export function renderDocument(text: string, addressOf: (href: string) => string): RenderedDocument {
  const tokens = marked.lexer(text);
  const headings = headingsOfTokens(tokens);
  const rest = [...headings];
  const renderer = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, tokens: inner }: Tokens.Heading): string {
        const { anchor } = rest.shift()!;
        const html = this.parser.parseInline(inner);
        if (depth === 1) return '';
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${html} ${link}</h${depth}>\n`;
      },
      link({ href, raw, tokens: inner }: Tokens.Link): string {
        if (!isWritten(raw)) return this.parser.parseInline(inner);
        return `<a href="${escapeHtml(addressOf(href))}">${this.parser.parseInline(inner)}</a>`;
      },
      // It scrolls where a line is longer than the page, by keys, too.
      code({ text: code, lang = '' }: Tokens.Code): string {
        return `<pre tabindex="0"><code>${withDimComments(code, lang)}</code></pre>\n`;
      },
      table(token: Tokens.Table): string {
        const cells = (row: readonly Tokens.TableCell[], name: string): string =>
          `<tr>${row.map(({ text: title, tokens: inner }) => element(title === '' ? 'td' : name, this.parser.parseInline(inner))).join('')}</tr>`;
        const head = token.header.some(({ text: title }) => title !== '')
          ? `<thead>${cells(token.header, 'th')}</thead>`
          : '';
        const rows = token.rows.map((row) => cells(row, 'td')).join('\n');
        return `<div class="table" tabindex="0"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      // Documents have none; what looks like it is text.
      html: ({ text: raw }: Tokens.HTML | Tokens.Tag): string => escapeHtml(raw),
    },
  });
  const html = renderer.parser(tokens);
  return { title: headings[0]?.text ?? '', html, headings, sections: sectionsOf(tokens, headings) };
}

const element = (name: string, html: string): string => `<${name}>${html}</${name}>`;

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Comments of commands and settings are explanations: they stand back behind what is typed. */
function withDimComments(code: string, lang: string): string {
  const html = escapeHtml(code);
  if (!['', 'sh', 'console', 'yaml', 'ini'].includes(lang)) return html;
  return html.replaceAll(/(^| )(# .*)$/gm, '$1<span class="comment">$2</span>');
}

function headingsOfTokens(tokens: readonly Token[]): Heading[] {
  const counts = new Map<string, number>();
  return tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(({ depth, tokens: inner }) => {
      const text = plainText(inner);
      const slug = text
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
        .replaceAll(' ', '-');
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      return { depth, text, anchor: count === 0 ? slug : `${slug}-${count}` };
    });
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): TextSection[] {
  const sections: { heading: string; anchor: string; text: string }[] = [];
  const rest = [...headings];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { text, anchor, depth } = rest.shift()!;
      sections.push({ heading: depth === 1 ? '' : text, anchor: depth === 1 ? '' : anchor, text: '' });
    } else {
      const section = sections.at(-1);
      if (section !== undefined) section.text += ` ${plainText([token])}`;
    }
  }
  return sections.map((section) => ({
    heading: section.heading,
    anchor: section.anchor,
    text: section.text.replaceAll(/\s+/g, ' ').trim(),
  }));
}

/** The words of a token and of those in it, without marks. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' ')).join('\n');
      }
      if (token.type === 'list')
        return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join('\n');
      if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
      return 'text' in token && typeof token.text === 'string' ? unescapeHtml(token.text) : ' ';
    })
    .join('');
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
