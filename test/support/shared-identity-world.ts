/**
 * The identity world of the test files that share a process: the first file starts it, and the last one closes it. Each
 * file finds an account without shares, auth providers and custom frontends. Its parts log at level debug.
 */
import { currentFile } from '../../tools/test-current-file.ts';
import { startIdentityWorld, type IdentityWorld, type SecondGateway } from './identity-world.ts';

export interface IdentityPair {
  readonly world: IdentityWorld;
  readonly second: SecondGateway;
}

/** What a file leaves in the account, in an order in which it can be deleted. */
const LEFT_BEHIND = ['custom-frontends', 'shares', 'auth-providers'] as const;

let opened: Promise<IdentityPair | { readonly world: IdentityWorld }> | undefined;

/** Files that call this share one world, which has one gateway. */
export async function sharedIdentityWorld(): Promise<IdentityWorld> {
  currentFile.closeHeld = close;
  opened ??= startIdentityWorld({ logLevel: 'debug' }).then((world) => ({ world }));
  return (await opened).world;
}

/** Files that call this share one world, which has a second gateway. */
export async function sharedIdentityPair(): Promise<IdentityPair> {
  currentFile.closeHeld = close;
  opened ??= startPair();
  return (await opened) as IdentityPair;
}

/** Empties the account, or closes the world when no file follows. Call it when the file has closed its own things. */
export async function releaseIdentityWorld(): Promise<void> {
  const held = await opened?.catch(() => undefined);
  if (held === undefined) return;
  if (currentFile.isLast) return close();
  const { call } = held.world;
  for (const kind of LEFT_BEHIND) {
    for (let left = await listOf(); left.length > 0; left = await listOf())
      for (const { id, token } of left) await call('DELETE', `/${kind}/${token ?? id}`);

    async function listOf(): Promise<readonly { id: string; token?: string }[]> {
      return (await call<{ content: { id: string; token?: string }[] }>('GET', `/${kind}`)).content;
    }
  }
}

async function close(): Promise<void> {
  const held = await opened?.catch(() => undefined);
  opened = undefined;
  currentFile.closeHeld = undefined;
  await held?.world.close();
}

async function startPair(): Promise<IdentityPair> {
  const world = await startIdentityWorld({ logLevel: 'debug' });
  try {
    return { world, second: await world.startGateway('second') };
  } catch (error) {
    await world.close();
    throw error;
  }
}
