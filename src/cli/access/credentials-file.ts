/** Credentials in a file, for containers and schedulers that have their secrets there: `--credentials-file`. */
import { readFile } from 'node:fs/promises';
import { FrontdoorError, messageOf } from '#base';
import { apiCredentialsShape, type Credentials } from '#domain/agent-shapes';
import type { CliIo } from '../cli-io.ts';
import type { ApiFlags } from './api-options.ts';

export interface FileCredentials {
  readonly credentials: Credentials;
  /** Undefined if the file names none. */
  readonly frontdoorId: string | undefined;
}

/** Undefined if no file is named, or if options or the environment have other credentials. */
export async function fileCredentials(flags: ApiFlags, { env }: CliIo): Promise<FileCredentials | undefined> {
  const isCallerGiven = flags.account !== undefined || flags.client !== undefined;
  if (flags.credentialsFile !== undefined) {
    if (!isCallerGiven) return readCredentials(flags.credentialsFile, '--credentials-file');
    const message = 'give either --credentials-file, or --account or --client';
    throw new FrontdoorError('invalid', 'two-callers', message);
  }
  const {
    FRONTDOOR_ACCOUNT_ID: account,
    FRONTDOOR_CLIENT_ID: client,
    FRONTDOOR_CREDENTIALS_FILE: file,
  } = env;
  if (isCallerGiven || account !== undefined || client !== undefined || file === undefined) return undefined;
  return readCredentials(file, 'FRONTDOOR_CREDENTIALS_FILE');
}

async function readCredentials(file: string, source: string): Promise<FileCredentials> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const message = `${source}: cannot read ${file}: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'credentials-file', message, { cause });
  }
  const read = apiCredentialsShape.readText(text);
  if ('problem' in read)
    throw new FrontdoorError('invalid', 'credentials-file', `${source}: ${file}: ${read.problem}`);
  const { accountId, apiToken, frontdoorId } = read.value;
  return {
    credentials: { kind: 'account', id: accountId, secret: apiToken },
    frontdoorId: frontdoorId === '' ? undefined : frontdoorId,
  };
}
