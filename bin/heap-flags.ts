/**
 * V8 uses a code cache only under the flags that it was made with, and those of Node's own modules were made without any.
 * `node-flags.js` has four that V8 compares. They are set back before the program is loaded, so that a start does not compile
 * Node's modules anew. ADR 0054.
 */

/**
 * V8 shrinks the young generation to 1 MB when little was allocated since the last collection, and by default doubles it
 * after as much has survived as it holds, which takes seconds of traffic. By this factor it reaches its limit at once.
 */
const GROWTH_FACTOR = 8;
const DEFAULT_GROWTH_FACTOR = 2;

/** Must be called before other modules are imported. What the flags have configured stays as it is. */
export function resetHeapFlags(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--initial-old-space-size=0');
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString('--no-external-memory-accounted-in-global-limit');
  setFlagsFromString(`--semi-space-growth-factor=${DEFAULT_GROWTH_FACTOR}`);
  setFlagsFromString('--allocation-site-pretenuring');
}

/** Must be called when a program has started. V8 reads these flags whenever it decides about memory. */
export function setHeapFlags(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR}`);
  setFlagsFromString('--no-allocation-site-pretenuring');
}
