/** Measures the memory in use after a full garbage collection, for tests that bound its growth. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Bytes of the JavaScript heap and of buffers outside it, after garbage collection. */
export async function usedMemory(): Promise<number> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  for (let round = 0; round < 3; round += 1) {
    collect();
    // Finalizers of sockets and buffers run between turns.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
