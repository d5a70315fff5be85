// The Helm chart and the manifests that are rendered from it. HELM_BIN names `helm` (version 3); without it, the manifests are checked as
// they are committed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import { agentFileSchema } from '#contract/schemas';
import { parseYamlFile } from '#net/yaml-file';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { copyChart, packChart } from '../../tools/release/chart.ts';
import { renderChart, renderManifests, runHelm } from '../../tools/release/render-manifests.ts';
import {
  checkReferences,
  checkRights,
  containersOf,
  manifestsOf,
  secretsOf,
  workloadsOf,
} from './manifest-check.ts';

const helm = process.env['HELM_BIN'];
const skip = helm === undefined ? 'HELM_BIN is not set' : false;
const top = mkdtempSync(join(tmpdir(), 'frontdoor-chart-test-'));
after(() => rmSync(top, { recursive: true, force: true }));
const guide = readFileSync(join(repositoryRoot, 'docs/guide/kubernetes.md'), 'utf8');
const files = globSync('deploy/manifests/*.yaml', { cwd: repositoryRoot })
  .filter((path) => !path.endsWith('.values.yaml'))
  .toSorted();

/** Values, as `--set` takes them, that lead to every branch of the templates. */
const VARIANTS: readonly (readonly string[])[] = [
  [],
  ['control.replicas=1', 'routers.replicas=1', 'networkPolicy.enabled=false', 'enrollment.authoritySecret='],
  ['serviceMonitor.enabled=true', 'serviceMonitor.labels.release=prometheus', 'agent.enabled=true'],
  ['routers.podServices.enabled=true', 'routers.advertise=$(POD_NAME).example.com', 'logLevel=debug'],
  ['control.podServices.enabled=true', 'control.advertise=$(POD_NAME).example.com', 'fullnameOverride=fd'],
  ['gateways.certificateSecret=tls', 'gateways.extraArgs={--workers=2}', 'gateways.service.type=ClusterIP'],
  [
    'networkPolicy.apiFrom[0].ipBlock.cidr=10.0.0.0/8',
    'networkPolicy.routersFrom[0].ipBlock.cidr=10.0.0.0/8',
  ],
  [`image.digest=sha256:${'a'.repeat(64)}`, 'imagePullSecrets[0].name=pull', 'control.nodeSelector.disk=ssd'],
  ['routers.storage.className=fast', 'gateways.tolerations[0].operator=Exists', 'agent.enabled=true'],
];

for (const path of files) {
  describe(path, () => {
    const manifests = manifestsOf(readFileSync(join(repositoryRoot, path), 'utf8'));

    it('runs commands of the product, and names nothing that it does not define', () => {
      checkReferences(manifests);
    });

    it('gives no pod rights that it does not need', () => {
      checkRights(manifests);
    });

    it('names Secrets of the guide only', () => {
      for (const name of secretsOf(manifests)) assert.ok(guide.includes(` ${name} `), name);
    });
  });
}

it('a control plane is ready for routers before it has any', () => {
  const manifests = manifestsOf(
    readFileSync(join(repositoryRoot, 'deploy/manifests/frontdoor.yaml'), 'utf8'),
  );
  const paths = workloadsOf(manifests).map(({ metadata, spec }) => [
    metadata.name,
    spec.template.spec.containers[0]!.readinessProbe!.httpGet.path,
  ]);
  assert.deepEqual(Object.fromEntries(paths), {
    'frontdoor-control': '/health/ready?ignore=routers',
    'frontdoor-gateway': '/health/ready',
    'frontdoor-router': '/health/ready',
  });
});

it('each control plane and each router has a name of its own, which is that of its pod', () => {
  const manifests = manifestsOf(
    readFileSync(join(repositoryRoot, 'deploy/manifests/frontdoor.yaml'), 'utf8'),
  );
  const names = workloadsOf(manifests).flatMap(({ spec: { serviceName, template } }) =>
    containersOf(template.spec)
      .flatMap(({ args }) => args.filter((word) => word.startsWith('--advertise=')))
      .map((word) => word === `--advertise=$(POD_NAME).${serviceName}.frontdoor.svc`),
  );
  // Routers take control planes of one name for one.
  assert.deepEqual(names, [true, true]);
});

it('the shares of the agent are a valid file', () => {
  const manifests = manifestsOf(readFileSync(join(repositoryRoot, 'deploy/manifests/agent.yaml'), 'utf8'));
  const { data } = manifests.find(({ kind }) => kind === 'ConfigMap')!;
  const read = parseYamlFile(data!['agent.yml']!, {
    schema: agentFileSchema,
    maxLength: 10_000,
    texts: { folder: top, env: {} },
    rules: () => [],
    whenEmpty: '',
  });
  assert.ok('value' in read, 'the file is valid');
  assert.equal(read.value.shares![0]!.target, 'http://app.default.svc:8080');
});

it('the packed chart has the version of the release, and the same bytes the second time', () => {
  const packed = ['one', 'other'].map((name) => {
    const folder = join(top, name);
    mkdirSync(folder);
    packChart({ folder, version: '1.2.3', commit: '', timeS: 1_700_000_000, bill: '' });
    return join(folder, 'frontdoor-1.2.3.chart.tgz');
  });
  assert.deepEqual(readFileSync(packed[0]!), readFileSync(packed[1]!));
  const list = execFileSync('tar', ['--list', '--file', packed[0]!], { encoding: 'utf8' }).split('\n');
  for (const file of ['Chart.yaml', 'values.yaml', 'values.schema.json', 'templates/control.yaml'])
    assert.ok(list.includes(`frontdoor/${file}`), file);
  const text = execFileSync('tar', [
    '--extract',
    '--to-stdout',
    '--file',
    packed[0]!,
    'frontdoor/Chart.yaml',
  ]);
  assert.match(text.toString(), /^version: 1\.2\.3\nappVersion: 1\.2\.3$/m);
});

describe('with helm', { skip }, () => {
  it('the manifests are those of the chart', () => {
    const rendered = renderManifests(helm!);
    assert.deepEqual(
      [...rendered.keys()].map((path) => basename(path)).toSorted(),
      files.map((path) => basename(path)),
    );
    for (const [path, text] of rendered)
      assert.equal(readFileSync(path, 'utf8'), text, `run tools/release/render-manifests.ts: ${path}`);
  });

  it('the chart has no warnings, and each variant of its values names only what it defines', () => {
    const chart = copyChart(join(top, 'variants'), '1.2.3');
    for (const values of VARIANTS) {
      const words = values.flatMap((value) => ['--set', value]);
      runHelm(helm!, ['lint', '--strict', chart, ...words]);
      const manifests = manifestsOf(renderChart(helm!, chart, ['--namespace', 'x', ...words]));
      checkReferences(manifests);
      checkRights(manifests);
    }
  });

  it('values that the chart does not know are refused with their names', () => {
    const chart = copyChart(join(top, 'refused'), '1.2.3');
    for (const value of ['control.databaseUrl=postgres://x', 'image.digest=latest', 'routers.replicas=-1'])
      assert.throws(() => renderChart(helm!, chart, ['--set', value]), {
        message: new RegExp(value.split('.')[0]!),
      });
  });
});
