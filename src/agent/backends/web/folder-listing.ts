/** The page that lists a folder without an index, for shares with the option `listing`. */
import { opendir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { escapeHtml } from '#base';
import { findFile } from './served-folder.ts';
import { isServed, pathOf } from './file-path-policy.ts';

const MAX_ENTRIES = 1_000;
const STYLE = 'body{font:16px/1.6 system-ui,sans-serif;margin:2rem}td{padding-right:2rem}';

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
  /** In bytes, of a file. */
  readonly size: number | undefined;
}

/** `folder` is the true path of what `names` lead to below `root`. */
export async function folderListing(
  root: string,
  folder: string,
  names: readonly string[],
  response: ServerResponse,
): Promise<void> {
  const entries: Entry[] = [];
  let isCut = false;
  for await (const { name } of await opendir(folder)) {
    if (response.destroyed) return;
    if (entries.length === MAX_ENTRIES) {
      isCut = true;
      break;
    }
    const entry = isServed([...names, name]) ? await entryOf(root, [...names, name]) : undefined;
    if (entry !== undefined) entries.push(entry);
  }
  entries.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || (a.name < b.name ? -1 : 1));
  const page = pageOf(names, entries, isCut);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(page),
    'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'`,
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(page);
}

/** Undefined for what is not served. */
async function entryOf(root: string, names: readonly string[]): Promise<Entry | undefined> {
  const found = await findFile(root, names);
  if (found === undefined || found === 'forbidden') return undefined;
  const name = names.at(-1)!;
  if (!('handle' in found)) return { name, isFolder: true, size: undefined };
  await found.handle.close();
  return { name, isFolder: false, size: found.stats.size };
}

function pageOf(names: readonly string[], entries: readonly Entry[], isCut: boolean): string {
  const title = escapeHtml(`/${names.join('/')}`);
  const up = names.length === 0 ? '' : rowOf('..', pathOf(names.slice(0, -1), true), '');
  const rows = entries.map(({ name, isFolder, size }) =>
    rowOf(
      isFolder ? `${name}/` : name,
      pathOf([...names, name], isFolder),
      size === undefined ? '' : `${size}`,
    ),
  );
  const rest = isCut ? `<p>Only ${MAX_ENTRIES} entries are listed.</p>` : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1><table><tr><th align="left">Name</th><th align="right">Bytes</th></tr>
${up}${rows.join('')}</table>${rest}</body></html>
`;
}

function rowOf(name: string, path: string, size: string): string {
  return `<tr><td><a href="${escapeHtml(path)}">${escapeHtml(name)}</a></td><td align="right">${size}</td></tr>\n`;
}
