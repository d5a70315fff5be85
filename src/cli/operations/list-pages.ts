/** A list of the Management API, page by page, asked for as it is read. */
import { FrontdoorError } from '#base';

export type Entry = Readonly<Record<string, unknown>>;

/** Entries of one answer; a thousand grants in each still stay far below the cap of an answer. */
const PAGE_SIZE = 200;

/**
 * `ask` answers the page's `content`. What moved to a later page while the list was read, because something was put in
 * before it, is not told twice.
 */
export async function* pagesOf(
  ask: (page: number, size: number) => Promise<readonly Entry[]>,
  limit: number,
): AsyncGenerator<readonly Entry[]> {
  const size = Math.min(PAGE_SIZE, limit);
  let told = new Set<unknown>();
  for (let page = 0, left = limit; left > 0; page += 1) {
    const entries = await ask(page, size);
    const news = entries.filter((entry) => !told.has(keyOf(entry))).slice(0, left);
    if (news.length > 0) yield news;
    left -= news.length;
    if (entries.length < size) return;
    told = new Set(entries.map(keyOf));
  }
}

/** A share is known by its token. */
function keyOf(entry: Entry): unknown {
  return entry['id'] ?? entry['token'] ?? entry;
}

/** The entries of a page or of a whole list. */
export function entriesOf(answer: unknown): readonly Entry[] {
  const list: unknown = Array.isArray(answer)
    ? answer
    : (answer as { content?: unknown } | undefined)?.content;
  if (Array.isArray(list)) return list as Entry[];
  throw new FrontdoorError('badGateway', 'answer', 'the Management API answered no list');
}
