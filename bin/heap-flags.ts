/**
 * V8 uses a code cache only under the flags that it was made with, and those of Node's own modules were made without any.
 * `node-flags.js` has three that V8 reads when it makes the heap. They are set back before the program is loaded, so that a
 * start does not compile Node's modules anew. ADR 0054.
 */

/** Must be called before other modules are imported. What the flags have configured stays as it is. */
export function resetHeapFlags(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--initial-old-space-size=0');
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString('--no-external-memory-accounted-in-global-limit');
}

/** Must be called when a program has started. V8 reads this flag at each decision about a collection. */
export function countExternalMemory(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--external-memory-accounted-in-global-limit');
}
