/** Which target of a share a request is for, by the path of its target. ADR 0092. */
import { decodedPath, isBelow, pathReadings } from '#domain';

interface PathTarget<Route> {
  /** In canonical form. */
  readonly path: string;
  readonly route: Route;
}

export class PathTargets<Route> {
  /** The longest path first. */
  readonly #targets: readonly (PathTarget<Route> & { readonly plain: string })[];

  constructor(targets: readonly PathTarget<Route>[]) {
    this.#targets = targets
      .map(({ path, route }) => ({ path, plain: decodedPath(path), route }))
      .toSorted((a, b) => b.path.length - a.path.length);
  }

  get routes(): readonly Route[] {
    return this.#targets.map(({ route }) => route);
  }

  /** Returns undefined for the share itself. A target that servers read as paths of different targets is ambiguous. */
  find(target: string): Route | 'ambiguous' | undefined {
    const readings = pathReadings(target);
    if (readings === undefined) return 'ambiguous';
    const found = new Set(readings.map((reading) => this.#find(reading)));
    const [one] = found;
    // What follows a path that is removed must not begin like an authority.
    const isDoubled = one !== undefined && readings.some((reading) => reading.startsWith(`${one.path}//`));
    return found.size > 1 || isDoubled ? 'ambiguous' : one?.route;
  }

  #find(reading: string): PathTarget<Route> | undefined {
    return this.#targets.find(({ path, plain }) => isBelow(reading, path) || isBelow(reading, plain));
  }
}
