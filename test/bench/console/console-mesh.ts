/**
 * The map of a mesh of 300 routers and 1,000 links in a browser. The routers are enrolled and have control channels, by which
 * they report links; nothing runs behind the links.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { enrollHostileRouter, HostileRouter } from '../../support/hostile-router.ts';
import type { BenchRun } from '../bench-run.ts';
import { until } from '../bench-process.ts';
import { figureOf } from '../figure.ts';
import { callApi, type UpProduct } from '../product.ts';
import { CONSOLE, DRAWN_COLUMN, MOVED_COLUMN, TASK_COLUMN } from './console-goal-table.ts';
import { openScreen } from './console-screen.ts';

const ROUTERS = 300;
const LINKS = 1_000;
const AT_ONCE = 10;
const MESH_DEADLINE_MS = 60_000;

type Places = Readonly<Record<string, string>>;

interface Mesh {
  readonly routers: readonly unknown[];
  readonly links: readonly unknown[];
}

export async function measureMesh(run: BenchRun, product: UpProduct): Promise<void> {
  run.report(`connecting ${ROUTERS} routers`);
  const routers = await connectRouters(product);
  run.defer(async () => {
    for (const router of routers) router.close();
  });
  for (let at = 0; at < LINKS; at += 1) {
    // Each round has another distance, so no two routers are linked twice.
    const from = at % ROUTERS;
    const to = (from + 1 + 7 * Math.floor(at / ROUTERS)) % ROUTERS;
    routers[from]!.report(`link-${at}`, routers[to]!.identity.id);
  }
  await until('the mesh', MESH_DEADLINE_MS, async () => {
    const mesh = (await callApi(product, 'GET', '/fabric/mesh')) as unknown as Mesh;
    if (mesh.routers.length < ROUTERS || mesh.links.length < LINKS)
      throw new Error(`${mesh.routers.length} routers, ${mesh.links.length} links`);
  });
  const screen = await openScreen(run, product);
  const draw = async () => {
    await screen.page.goto('about:blank');
    await screen.page.goto(`${product.apiUrl}/console/mesh`, { waitUntil: 'commit' });
    const map = await drawn(screen.page);
    await screen.settle();
    return { ...map, taskMs: (await screen.figures()).longestTaskMs };
  };
  // The first time the files are not in the cache of the browser, which another figure is about.
  const first = await draw();
  const rounds = await run.repeat(draw);
  const drawnMs = figureOf(rounds.map(({ atMs }) => atMs));
  const moved = rounds.flatMap(({ places }) =>
    Object.entries(places).filter(([id, place]) => first.places[id] !== place),
  );
  run.record(CONSOLE.mesh, 'map', {
    [DRAWN_COLUMN]: drawnMs.median,
    'the slowest, ms': drawnMs.max,
    [TASK_COLUMN]: figureOf(rounds.map(({ taskMs }) => taskMs)).median,
    [MOVED_COLUMN]: moved.length,
  });
}

async function connectRouters(product: UpProduct): Promise<HostileRouter[]> {
  const { ctrl } = JSON.parse(readFileSync(join(product.dataDir, 'ports.json'), 'utf8')) as {
    readonly ctrl: number;
  };
  const routers: HostileRouter[] = [];
  while (routers.length < ROUTERS) {
    const next = Array.from({ length: AT_ONCE }, async (_none, index) => {
      const name = `bench-${routers.length + index}`;
      const { token } = await callApi(product, 'POST', '/fabric/routers', { name });
      return HostileRouter.connect(await enrollHostileRouter(String(token)), ctrl);
    });
    routers.push(...(await Promise.all(next)));
  }
  return routers;
}

/** Runs in the page: resolves once the map is whole, in the task after the frame that shows it. */
const WHOLE_MAP = `new Promise((resolve) => {
  const count = (selector) => document.querySelectorAll('.fd-map ' + selector).length;
  const placeOf = (circle) => circle.getAttribute('cx') + ' ' + circle.getAttribute('cy');
  const places = () => Object.fromEntries([...document.querySelectorAll('.fd-map a')].map((link) =>
    [link.getAttribute('href'), placeOf(link.querySelector('circle'))]));
  const look = () => {
    if (count('circle') < ${ROUTERS} || count('line') < ${LINKS}) requestAnimationFrame(look);
    else setTimeout(() => resolve({ atMs: performance.now(), places: places() }));
  };
  look();
})`;

/** Resolves to when the browser has painted the map, in ms since the navigation began, and where its routers are. */
async function drawn(page: Page): Promise<{ readonly atMs: number; readonly places: Places }> {
  return (await page.evaluate(WHOLE_MAP)) as { readonly atMs: number; readonly places: Places };
}
