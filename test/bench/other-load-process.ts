// The fixed other load of `--busy`. The process works for 5 ms and rests for 5 ms, and its work touches 16 MB of memory, a
// cache line at a time. So it takes the same share of every machine, and caches with it. It prints a line when it runs.
const WORK_MS = 5;
const REST_MS = 5;
const LINE_BYTES = 64;
const LINES_A_LOOK = 1_024;

const memory = new Uint8Array(16 * 1024 * 1024);
let place = 0;

function work(): void {
  const endMs = performance.now() + WORK_MS;
  do {
    for (let line = 0; line < LINES_A_LOOK; line += 1) {
      memory[place] = memory[place]! + 1;
      place = (place + LINE_BYTES) % memory.length;
    }
  } while (performance.now() < endMs);
  setTimeout(work, REST_MS);
}

work();
console.log('running');
