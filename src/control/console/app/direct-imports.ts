/**
 * An import of a name from a package that gathers many modules becomes an import of the module that has the name. Otherwise
 * esbuild puts a module that any page uses into the first page, because the first page imports the gathering module.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

const SOURCES = /[\\/]src[\\/]console[\\/].*\.tsx?$/;
/** The gathering module imports names from their modules and exports them again. */
const GATHERED = /^import \{([^}]*)\} from "(\.[^"]+)";$/gm;

/** `gathering`: the module of each package, as a path below `root`. */
export function directImports(root: string, gathering: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'direct-imports',
    setup: ({ onLoad }) => {
      const modules = new Map<string, Promise<ReadonlyMap<string, string>>>();
      for (const [name, path] of Object.entries(gathering)) modules.set(name, modulesOf(join(root, path)));
      onLoad({ filter: SOURCES }, async ({ path }) => {
        let contents = await readFile(path, 'utf8');
        for (const [name, found] of modules) contents = directed(contents, name, await found);
        return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
      });
    },
  };
}

/** The path of the module of each name. */
async function modulesOf(path: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(path, 'utf8');
  const found = [...text.matchAll(GATHERED)].flatMap(([, list, from]) =>
    list!.split(',').map((name) => [name.trim(), join(dirname(path), from!)] as const),
  );
  return new Map(found.filter(([name]) => /^\w+$/.test(name)));
}

/** Names that no module of its own has stay in the import of the package. */
export function directed(source: string, name: string, modules: ReadonlyMap<string, string>): string {
  const imports = new RegExp(`^import \\{([^}]*)\\} from '${name}';$`, 'gm');
  return source.replaceAll(imports, (whole: string, list: string) => {
    const lines = list
      .split(',')
      .map((each) => each.trim())
      // An import of types alone would still load the gathering module.
      .filter((each) => each !== '' && !each.startsWith('type '))
      .map((each) => {
        const path = modules.get(each.split(' as ')[0]!);
        return `import { ${each} } from ${path === undefined ? `'${name}'` : JSON.stringify(path)};`;
      });
    // As many lines as before, so that messages of esbuild name the right ones.
    return lines.join(' ') + '\n'.repeat(whole.split('\n').length - 1);
  });
}
