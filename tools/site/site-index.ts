/** The order of the site: the sections and rows of docs/guide/README.md, which is also the first page, here and on GitHub. */
import { posix } from 'node:path';

export const INDEX_DOCUMENT = 'docs/guide/README.md';

export interface IndexRow {
  readonly title: string;
  /** The document, from the top of the repository. */
  readonly document: string;
  readonly about: string;
}

export interface IndexSection {
  readonly title: string;
  readonly rows: readonly IndexRow[];
}

/** Takes `## Section` and `- [Title](page.md): what it is about`; other lines are the prose of the page. */
export function siteIndex(text: string): IndexSection[] {
  const sections: { title: string; rows: IndexRow[] }[] = [];
  for (const line of text.split('\n')) {
    const [, section] = /^## (.+)$/.exec(line) ?? [];
    if (section !== undefined) sections.push({ title: section, rows: [] });
    const [, title, target, about] = /^- \[([^\]]+)\]\(([^)#]+)\): (.+)$/.exec(line) ?? [];
    if (title === undefined) continue;
    const document = posix.join(posix.dirname(INDEX_DOCUMENT), target!);
    sections.at(-1)?.rows.push({ title, document, about: about! });
  }
  return sections;
}
