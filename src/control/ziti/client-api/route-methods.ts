/** The methods of each route, to distinguish a wrong method from an unknown path, and to describe the API. */
interface Route {
  /** As the framework spells it: `/services/:id`. */
  readonly url: string;
  readonly pattern: RegExp;
  readonly parameters: number;
  readonly methods: Set<string>;
}

export class RouteMethods {
  readonly #routes = new Map<string, Route>();

  /** Called for each route that is registered. */
  add(url: string, methods: readonly string[]): void {
    let route = this.#routes.get(url);
    if (route === undefined) {
      const text = url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+');
      const parameters = url.split(':').length - 1;
      route = { url, pattern: new RegExp(`^${text}/?$`), parameters, methods: new Set() };
      this.#routes.set(url, route);
    }
    for (const method of methods) route.methods.add(method);
  }

  /** Returns the methods of a path, sorted; none for a path that no route has. */
  of(path: string): readonly string[] {
    const matching = [...this.#routes.values()].filter(({ pattern }) => pattern.test(path));
    // A literal segment has precedence over a parameter.
    const fewest = Math.min(...matching.map(({ parameters }) => parameters));
    const literal = matching.filter(({ parameters }) => parameters === fewest);
    return [...new Set(literal.flatMap(({ methods }) => [...methods]))].sort();
  }

  /** Returns the paths below a prefix, in OpenAPI's form (`/services/{id}`), with their methods. */
  below(prefix: string): [path: string, methods: readonly string[]][] {
    return [...this.#routes.values()]
      .filter(({ url }) => url.startsWith(`${prefix}/`))
      .map(({ url, methods }): [string, string[]] => [
        url.slice(prefix.length).replaceAll(/:(\w+)/g, '{$1}'),
        [...methods].filter((method) => method !== 'HEAD').sort(),
      ])
      .sort(([left], [right]) => (left < right ? -1 : 1));
  }
}
