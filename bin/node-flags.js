/**
 * The flags of the pinned Node that our programs run with. It is plain JavaScript, because the launcher loads it
 * with any Node that is installed; tests that start a program without the launcher take them from here.
 */

/** An agent whose control group has less memory collects more often, for a tenth more CPU time. ADR 0086. */
const SMALL_AGENT_BYTES = 96 * 1024 * 1024;

/** @param {string | undefined} command */
function isAgent(command) {
  return command === 'agent' || command === 'tunnel';
}

/**
 * @param {string | undefined} command the first word behind `frontdoor`
 * @param {number} memoryBytes the limit of its control group; infinite where there is none
 * @returns {string[]}
 */
export function nodeFlags(command, memoryBytes = Infinity) {
  // Small young generations: agents stay small beside what they publish, and a slow reader costs little. ADR 0009.
  const [youngMegabytes, uncollectedMegabytes] = !isAgent(command)
    ? [8, 80]
    : memoryBytes < SMALL_AGENT_BYTES
      ? [1, 16]
      : [4, 40];
  return [
    '--disable-warning=ExperimentalWarning',
    // On SIGUSR1 node would open a debugger. The flag blocks that, so that a router can log its state on the signal.
    ...(command === 'router' ? [] : ['--disable-sigusr1']),
    // Socket buffers live outside V8's heap. By default every 64 MB of them force a full collection, which took more
    // than half of a download's CPU time; counted in the heap's own limit they are collected with the young.
    '--external-memory-accounted-in-global-limit',
    // Below this there are no full collections: else the buffers of a download alone cause one for every few megabytes.
    `--initial-old-space-size=${uncollectedMegabytes}`,
    '--no-parallel-scavenge',
    // Lists of a connection that V8 takes for long-lived keep all of it until the next full collection. ADR 0055.
    '--no-allocation-site-pretenuring',
    // Programs collect once when they have started: `start-collection.ts`.
    '--expose-gc',
    `--max-semi-space-size=${youngMegabytes}`,
    // After a quiet time V8 doubles the young generation as often as it needs to; by this factor it has its size at once.
    '--semi-space-growth-factor=8',
  ];
}

/**
 * The environment of the pinned Node that our programs run with, where it is not set.
 * @param {string | undefined} command the first word behind `frontdoor`
 * @param {number} memoryBytes the limit of its control group; infinite where there is none
 * @returns {Record<string, string>}
 */
export function nodeEnvironment(command, memoryBytes = Infinity) {
  if (isAgent(command)) {
    // Each thread's heap keeps what is freed in it. An agent's threads look up names and read files, seldom.
    const arenas = { MALLOC_ARENA_MAX: '2' };
    // Freed blocks of 128 KiB are given back at once, which costs a download a tenth more CPU time.
    const givenBack = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };
    return memoryBytes < SMALL_AGENT_BYTES ? Object.assign(arenas, givenBack) : arenas;
  }
  return {
    // The hash of a password takes 19 MiB, in any thread of four. When glibc has seen such a block freed, it takes the
    // next from the heap of the thread, and keeps it there: 120 MiB after a few log-ins. Larger blocks are mapped, and
    // given back. The second value is what the first gives by default; once one is set, the other is not adjusted any more.
    MALLOC_MMAP_THRESHOLD_: '4194304',
    MALLOC_TRIM_THRESHOLD_: '8388608',
  };
}
