/** Loads the file of trusted token issuers (`--trusted-issuers`). */
import { readFileSync, statSync } from 'node:fs';
import { FrontdoorError, messageOf } from '#base';
import { fileProblemLine } from '#base/shapes';
import type { TrustedIssuer } from './trusted-issuer-config.ts';

const OTHERS_MAY_WRITE = 0o022;

/**
 * Rejects with a FrontdoorError with all problems. Other users must not be able to write the file, because it
 * grants access.
 */
export async function loadTrustedIssuers(path: string): Promise<readonly TrustedIssuer[]> {
  let content: string;
  try {
    const { mode } = statSync(path);
    if ((mode & OTHERS_MAY_WRITE) !== 0) throw new Error(`others may write it. Run: chmod go-w ${path}`);
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    const message = `--trusted-issuers: cannot use ${path}: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'trusted-issuers', message, { cause });
  }
  // Loaded on demand, because the schema compiler uses memory.
  const { parseTrustedIssuers } = await import('./trusted-issuer-config.ts');
  const parsed = parseTrustedIssuers(content);
  if ('issuers' in parsed) return parsed.issuers;
  const lines = parsed.problems.map((problem) => `  ${fileProblemLine(path, problem)}`);
  const message = `--trusted-issuers: ${path} cannot be used:\n${lines.join('\n')}`;
  throw new FrontdoorError('invalid', 'trusted-issuers', message);
}
