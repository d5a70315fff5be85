/** A world that is held open for the next test file of the same process: the first file starts it, and the last one closes it. */
import { currentFile } from '../../tools/test-current-file.ts';

export interface HeldWorld<World> {
  readonly world: World;
  /** Leaves it as the next file expects it. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

let held: Promise<HeldWorld<unknown>> | undefined;

/** Resolves to the world that `start` started, for the first file of the process or for this one. */
export async function holdWorld<World>(start: () => Promise<HeldWorld<World>>): Promise<World> {
  currentFile.closeHeld = close;
  held ??= start();
  return (await held).world as World;
}

/**
 * Leaves the world as the next file expects it, or closes it when no file follows. Call it when the file has closed its own
 * things.
 */
export async function releaseWorld(): Promise<void> {
  const given = await held?.catch(() => undefined);
  if (given === undefined || currentFile.isLast) await close();
  else await given.tidy();
}

async function close(): Promise<void> {
  const given = await held?.catch(() => undefined);
  held = undefined;
  currentFile.closeHeld = undefined;
  await given?.close();
}
