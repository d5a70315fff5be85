/** The packages of a release, with versions, licences and sums, as CycloneDX in JSON: what npm knows from the lock file. */
import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../pinned-process.ts';

interface Bill {
  serialNumber?: string;
  metadata: { timestamp?: string };
  components: object[];
}

export function billOfMaterials(): string {
  const text = execFileSync(
    'npm',
    [
      'sbom',
      '--sbom-format',
      'cyclonedx',
      '--sbom-type',
      'application',
      '--omit',
      'dev',
      '--package-lock-only',
    ],
    { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  const bill = JSON.parse(text) as Bill;
  // Both are new with each call.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  return textOf(bill);
}

/** The bill of an image, which has packages of Debian, too. */
export function withDebianPackages(
  text: string,
  packages: readonly { readonly name: string; readonly version: string }[],
  architecture: string,
): string {
  const bill = JSON.parse(text) as Bill;
  for (const { name, version } of packages) {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    bill.components.push({ 'bom-ref': purl, type: 'library', name, version, purl });
  }
  return textOf(bill);
}

function textOf(bill: Bill): string {
  return `${JSON.stringify(bill, null, 2)}\n`;
}
