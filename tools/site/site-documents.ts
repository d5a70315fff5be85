/** The documents of the repository: which of them are pages of the site, and where a link of one leads. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { repositoryRoot } from '../pinned-process.ts';
import { INDEX_DOCUMENT } from './site-index.ts';

export const HOME_PAGE = 'index.html';

/** The page of GitHub's first visitors, who are in a clone. The site has `INDEX_DOCUMENT` in its place. */
const NOT_ON_THE_SITE = 'README.md';

/** Every document, from the top of the repository, in the order of its name. */
export function documentPaths(): string[] {
  return globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: repositoryRoot }).toSorted();
}

export function documentText(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8');
}

/** The page of a document, from the top of the site; undefined for one that is not on it. */
export function pageOf(document: string): string | undefined {
  if (document === NOT_ON_THE_SITE) return undefined;
  if (document === INDEX_DOCUMENT) return HOME_PAGE;
  const path = document.startsWith('docs/')
    ? document.slice('docs/'.length)
    : document.includes('/')
      ? document
      : `project/${document.toLowerCase()}`;
  return path.replace(/(?:^|(?<=\/))README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

export type LinkTarget =
  | { readonly kind: 'outside'; readonly url: string }
  /** A document, with the anchor in it or an empty text. */
  | { readonly kind: 'document'; readonly document: string; readonly anchor: string }
  /** Another file of the repository, such as a schema. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'missing'; readonly path: string };

/** A folder is its README.md, or the index if it has none. */
export function linkTarget(from: string, href: string): LinkTarget {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return { kind: 'outside', url: href };
  const [target = '', anchor = ''] = href.split('#');
  const path = target === '' ? from : posix.join(posix.dirname(from), target).replace(/\/$/, '');
  const onDisk = join(repositoryRoot, path);
  if (!existsSync(onDisk)) return { kind: 'missing', path };
  if (path.endsWith('.md')) return { kind: 'document', document: path, anchor };
  if (!statSync(onDisk).isDirectory()) return { kind: 'file', path };
  const readme = posix.join(path, 'README.md');
  const document = existsSync(join(repositoryRoot, readme)) ? readme : INDEX_DOCUMENT;
  return { kind: 'document', document, anchor };
}
