/** Files that name the version besides the manifests of npm: rendered manifests, compose files, guides. */
import { globSync } from 'node:fs';

/** Deployed as they are, so each version in them is that of the package. */
export const DEPLOYED_FILES = ['deploy/manifests/*.yaml', 'deploy/image/compose*.yaml'];
/** Guides name versions of their examples, too. */
const GUIDES = 'docs/guide/*.md';
/** The name of a file, an image or a package, and the label of Kubernetes; then the version. */
const PLACE =
  /(frontdoor(?:-agent)?[-_:]|kubernetes\.io\/version: ")(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[.\d]*\b)?)/g;

/** Paths below the top folder, in their order. */
export function versionedFiles(root: string): readonly string[] {
  return globSync([...DEPLOYED_FILES, GUIDES], { cwd: root }).toSorted();
}

export function versionsIn(text: string): readonly string[] {
  return [...text.matchAll(PLACE)].map(([, , version]) => version!);
}

/** Sets the version in the places that name the former one. */
export function withNewVersion(text: string, former: string, version: string): string {
  return text.replaceAll(PLACE, (place, name: string, found: string) =>
    found === former ? `${name}${version}` : place,
  );
}
