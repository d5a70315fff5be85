/** Whether a certificate of one's own can serve an installation: its files, its key, its names and its time. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf } from '#base';
import { failure, ok, type CheckResult } from '../doctor/finding.ts';

const OTHER_FILES = 'correct --tls-cert and --tls-key';

export interface OwnCertificateFiles {
  readonly tlsCert: string;
  readonly tlsKey: string | undefined;
  /** What it has to be for. */
  readonly names: readonly string[];
}

export async function certificateFilesVerdict(
  { tlsCert, tlsKey, names }: OwnCertificateFiles,
  nowMs: number,
): Promise<CheckResult> {
  if (tlsKey === undefined) return failure('--tls-cert needs --tls-key', OTHER_FILES);
  let certificate: X509Certificate;
  let isPair: boolean;
  try {
    const [cert, key] = await Promise.all([readFile(tlsCert), readFile(tlsKey)]);
    certificate = new X509Certificate(cert);
    isPair = certificate.checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    return failure(`${tlsCert} and ${tlsKey} cannot be used: ${messageOf(error)}`, OTHER_FILES);
  }
  if (!isPair) return failure(`${tlsKey} is not the key of ${tlsCert}`, OTHER_FILES);
  const missing = names.filter((name) => certificate.checkHost(name) === undefined);
  if (missing.length > 0)
    return failure(`${tlsCert} is not for ${missing.join(', ')}`, 'use one for the domain and for *.domain');
  const { validToDate } = certificate;
  if (validToDate.getTime() <= nowMs)
    return failure(`${tlsCert} expired on ${validToDate.toISOString()}`, 'renew it');
  return ok(`valid until ${validToDate.toISOString().slice(0, 10)}`);
}
