/** Reads a list of the Management API page by page, on demand. */
import { FrontdoorError } from '#base';

export type Entry = Readonly<Record<string, unknown>>;

/** Entries per request. Even with a thousand grants per entry, a response stays far below its size limit. */
const PAGE_SIZE = 200;

/**
 * `ask` returns the `content` of a page. An entry that moves to a later page while the list is read, because
 * another entry was inserted before it, is returned once.
 */
export async function* pagesOf(
  ask: (page: number, size: number) => Promise<readonly Entry[]>,
  limit: number,
): AsyncGenerator<readonly Entry[]> {
  const size = Math.min(PAGE_SIZE, limit);
  let shown = new Set<unknown>();
  for (let page = 0, left = limit; left > 0; page += 1) {
    const entries = await ask(page, size);
    const news = entries.filter((entry) => !shown.has(keyOf(entry))).slice(0, left);
    if (news.length > 0) yield news;
    left -= news.length;
    if (entries.length < size) return;
    shown = new Set(entries.map(keyOf));
  }
}

/** The key of a share is its token. */
function keyOf(entry: Entry): unknown {
  return entry['id'] ?? entry['token'] ?? entry;
}

/** Returns the entries of a page or of a list without pages. */
export function entriesOf(answer: unknown): readonly Entry[] {
  const list: unknown = Array.isArray(answer)
    ? answer
    : (answer as { content?: unknown } | undefined)?.content;
  if (Array.isArray(list)) return list as Entry[];
  throw new FrontdoorError('badGateway', 'answer', 'the Management API did not return a list');
}
