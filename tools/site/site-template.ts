/** One page of the site as HTML. All addresses are relative, so that the site works below any path and from a folder. */
import { posix } from 'node:path';
import type { IndexSection } from './site-index.ts';
import { HOME_PAGE, pageOf } from './site-documents.ts';
import { escapeHtml, type Heading, type RenderedDocument } from './site-markdown.ts';

export interface SitePage extends RenderedDocument {
  /** From the top of the site. */
  readonly path: string;
  readonly document: string;
}

export interface SiteFrame {
  readonly version: string;
  readonly index: readonly IndexSection[];
}

/** Files that every page loads, from the top of the site. */
export const SITE_STYLE = 'assets/site.css';
export const SITE_SCRIPT = 'assets/site.js';
/** Runs before the first paint, so that a chosen appearance does not flash. */
export const THEME_SCRIPT = 'assets/theme.js';
export const SEARCH_SCRIPT = 'assets/search.js';
export const SITE_ICON = 'assets/icon.svg';

/** Nothing comes from another place, and nothing is sent. */
const CONTENT_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

export function relativeAddress(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}

export function pageHtml(page: SitePage, { version, index }: SiteFrame): string {
  const to = (path: string): string => relativeAddress(page.path, path);
  const isHome = page.path === HOME_PAGE;
  return `<!doctype html>
<html lang="en">
<head>
${headHtml(isHome ? 'Frontdoor' : `${page.title} · Frontdoor`, to)}
</head>
<body data-top="${to('.')}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${to(HOME_PAGE)}"><img src="${to(SITE_ICON)}" alt="" width="22" height="22"><span>Frontdoor</span> <span class="version">${version}</span></a>
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div class="results" hidden><p role="status"></p><ul></ul></div>
</div>
<button class="menu" type="button" aria-expanded="false" aria-controls="pages" hidden>Pages</button>
<button class="theme" type="button" hidden>Appearance</button>
</header>
<div class="columns">
<nav id="pages" aria-label="Pages">
${sidebarHtml(page, index, to)}
</nav>
<main id="content" tabindex="-1">
<article>
<h1>${escapeHtml(page.title)}</h1>
${isHome ? homeHtml(page, index, to) : page.html}</article>
${neighboursHtml(page, index, to)}
</main>
${isHome ? '<div class="contents"></div>' : contentsHtml(page.headings)}
</div>
</body>
</html>
`;
}

/** It is served for paths of any depth, so that it needs no file beside it but the script that finds the first page. */
export function notFoundHtml(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Page not found · Frontdoor</title>
<style>
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem; }
</style>
</head>
<body>
<main>
<h1>Page not found</h1>
<p>The documentation has no page at this address. It may have been renamed in another version.</p>
<p><a href="./">Go to the first page</a></p>
</main>
<script>
// The folders of the site, below any path.
document.querySelector('a').href = location.pathname.replace(/(?:guide|reference|adr|conformance|project|examples|assets)\\/.*$|[^/]*$/, '');
</script>
</body>
</html>
`;
}

function headHtml(title: string, to: (path: string) => string): string {
  return `<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${CONTENT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${to(SITE_ICON)}">
<link rel="stylesheet" href="${to(SITE_STYLE)}">
<script src="${to(THEME_SCRIPT)}"></script>
<script src="${to(SITE_SCRIPT)}" defer></script>`;
}

function sidebarHtml(page: SitePage, index: readonly IndexSection[], to: (path: string) => string): string {
  return index
    .map(({ title, rows }) => {
      const items = rows.map((row) => {
        const current = row.document === page.document ? ' aria-current="page"' : '';
        return `<li><a href="${to(pageOf(row.document)!)}"${current}>${escapeHtml(row.title)}</a></li>`;
      });
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}

/** The index as cards, below the prose that stands before its first section. */
function homeHtml(page: SitePage, index: readonly IndexSection[], to: (path: string) => string): string {
  const prose = page.html.slice(0, page.html.indexOf('<h2 '));
  const sections = index.map(({ title, rows }) => {
    const cards = rows.map(
      (row) =>
        `<li><a href="${to(pageOf(row.document)!)}"><strong>${escapeHtml(row.title)}</strong><span>${escapeHtml(row.about)}</span></a></li>`,
    );
    return `<h2>${escapeHtml(title)}</h2>\n<ul class="cards">\n${cards.join('\n')}\n</ul>`;
  });
  return `${prose}${sections.join('\n')}\n`;
}

function neighboursHtml(
  page: SitePage,
  index: readonly IndexSection[],
  to: (path: string) => string,
): string {
  const rows = index.flatMap((section) => section.rows);
  const at = rows.findIndex(({ document }) => document === page.document);
  if (at < 0) return '';
  const [before, after] = [rows[at - 1], rows[at + 1]];
  const link = (name: string, row: (typeof rows)[number] | undefined): string =>
    row === undefined
      ? '<span></span>'
      : `<a rel="${name}" href="${to(pageOf(row.document)!)}">${name === 'prev' ? 'Previous' : 'Next'}<strong>${escapeHtml(row.title)}</strong></a>`;
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link('prev', before)}${link('next', after)}</nav>`;
}

function contentsHtml(headings: readonly Heading[]): string {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (listed.length < 2) return '<div class="contents"></div>';
  const items = listed.map(
    ({ depth, anchor, text }) =>
      `<li class="depth-${depth}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page">
<p>On this page</p>
<ul>
${items.join('\n')}
</ul>
</nav>`;
}
