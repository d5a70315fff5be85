/** What the event loop of this process waits for: the place of OpenZiti's dump of stacks, of which this process has one. */
export function waitingResourcesText(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const rows = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const lines = rows.map(([kind, count]) => `${kind}: ${count}`);
  return ['One thread runs all of this process. It waits for these resources:', ...lines].join('\n');
}
