/**
 * The documents as a site (ADR 0107): docs/, the documents of the top folder and the files that they link to, as pages that need
 * no server, no other host and no script but the search. The same bytes for the same documents.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { writeTextFile } from '../build-programs.ts';
import { repositoryRoot } from '../pinned-process.ts';
import type { SearchSection } from './browser/search-section.ts';
import { documentPaths, documentText, HOME_PAGE, linkTarget, pageOf } from './site-documents.ts';
import { INDEX_DOCUMENT, siteIndex } from './site-index.ts';
import { renderDocument } from './site-markdown.ts';
import {
  notFoundHtml,
  pageHtml,
  relativeAddress,
  SEARCH_SCRIPT,
  SITE_ICON,
  SITE_SCRIPT,
  SITE_STYLE,
  THEME_SCRIPT,
  type SiteFrame,
  type SitePage,
} from './site-template.ts';

const SOURCES = 'tools/site';
const SEARCH_DATA = 'assets/search-data.js';
/** Where a page of the index stands before others in the search. */
const WEIGHT_OF_OTHERS = 0.4;

/** Writes it into `folder`, which is made again. */
export function buildSite(folder: string, version: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of siteFiles(version)) writeTextFile(join(folder, path), text);
}

/** Every file by its path from the top of the site. */
export function siteFiles(version: string): Map<string, string> {
  const index = siteIndex(documentText(INDEX_DOCUMENT));
  const frame: SiteFrame = { version, index };
  const files = new Map<string, string>();
  const pages: SitePage[] = [];
  for (const document of documentPaths()) {
    const path = pageOf(document);
    if (path === undefined) continue;
    const rendered = renderDocument(documentText(document), (href) => addressOf(document, path, href, files));
    pages.push({ path, document, ...rendered });
  }
  for (const page of pages) files.set(page.path, pageHtml(page, frame));
  files.set('404.html', notFoundHtml());
  files.set(SITE_STYLE, sourceText('site.css'));
  files.set(SITE_ICON, sourceText('icon.svg'));
  for (const [name, path] of [
    ['theme', THEME_SCRIPT],
    ['site-page', SITE_SCRIPT],
    ['search', SEARCH_SCRIPT],
  ] as const)
    files.set(path, bundled(name));
  files.set(SEARCH_DATA, searchData(pages, frame));
  return files;
}

/** The address in a page of what its document links to. Files that are no documents become files of the site. */
function addressOf(document: string, page: string, href: string, files: Map<string, string>): string {
  const target = linkTarget(document, href);
  if (target.kind === 'outside') return target.url;
  if (target.kind === 'missing') throw new Error(`${document} links to ${target.path}, which does not exist`);
  if (target.kind === 'file') {
    const path = target.path.replace(/^docs\//, '');
    files.set(path, readFileSync(join(repositoryRoot, target.path), 'utf8'));
    return relativeAddress(page, path);
  }
  const anchor = target.anchor === '' ? '' : `#${target.anchor}`;
  if (target.document === document && anchor !== '') return anchor;
  return `${relativeAddress(page, pageOf(target.document) ?? HOME_PAGE)}${anchor}`;
}

function searchData(pages: readonly SitePage[], { index }: SiteFrame): string {
  const first = new Set(index.flatMap(({ rows }) => rows.map(({ document }) => document)));
  const sections = pages.flatMap(({ path, document, title, sections: parts }) =>
    parts.map(({ heading, anchor, text }): SearchSection => {
      const address = anchor === '' ? path : `${path}#${anchor}`;
      return { page: title, heading, address, text, weight: first.has(document) ? 1 : WEIGHT_OF_OTHERS };
    }),
  );
  return `window.frontdoorSections = [\n${sections.map((section) => JSON.stringify(section)).join(',\n')}\n];\n`;
}

function bundled(name: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(repositoryRoot, SOURCES, 'browser', `${name}.ts`)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
  });
  return outputFiles[0]!.text;
}

function sourceText(name: string): string {
  return readFileSync(join(repositoryRoot, SOURCES, name), 'utf8');
}
