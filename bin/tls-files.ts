/** A certificate and its key from two options, of which both or neither must be given. */
import { readFileSync } from 'node:fs';
import { FrontdoorError } from '#base';
import { checkNamesFile } from './option-file.ts';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** `option` is the certificate's, for the error. */
export function tlsFilesOf(
  certFile: string | undefined,
  keyFile: string | undefined,
  option: string,
): TlsFiles | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    const message = `${option} needs its key beside it, and the other way round`;
    throw new FrontdoorError('invalid', 'tls-files', message);
  }
  checkNamesFile(keyFile, `${option.replace(/-cert$/, '')}-key`);
  return { certFile, keyFile };
}

/** Returns the PEM texts under `name`, or an empty object. @throws FrontdoorError that names the option. */
export function tlsOption<Name extends string>(
  name: Name,
  cert: string | undefined,
  key: string | undefined,
  option: string,
): { [K in Name]?: { cert: string; key: string } } {
  const files = tlsFilesOf(cert, key, option);
  if (files === undefined) return {};
  const { certFile, keyFile } = files;
  try {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    return { [name]: pair } as { [K in Name]?: { cert: string; key: string } };
  } catch (cause) {
    const message = `${option}: cannot read ${certFile} and ${keyFile}`;
    throw new FrontdoorError('invalid', 'tls-files', message, { cause });
  }
}
