// OpenZiti's Java SDK and the library at OpenZiti's controller, with our router and with OpenZiti's as its only edge router.
// ZITI_BIN names `ziti` (1.7.2), and `java-peer.ts` needs jars; without either: skipped.
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { javaSkip, JavaPeer } from '../compat/java-sdk/java-peer.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : javaSkip;

const OURS = 'our router';
const ROUTERS: Readonly<Record<string, (mesh: OpenZitiMesh, edgePort: number) => Promise<unknown>>> = {
  [OURS]: (mesh, edgePort) => mesh.ourRouter('ours', { edgePort }),
  "OpenZiti's router": (mesh, edgePort) => mesh.goRouter('theirs', { edgePort }),
};

for (const [where, startRouter] of Object.entries(ROUTERS)) {
  describe(`the Java SDK and the library at ${where}`, () => {
    let mesh: OpenZitiMesh;
    let library: Overlay;
    let java: JavaPeer;

    before(async () => {
      if (skip) return;
      mesh = await OpenZitiMesh.start(BINARY!);
      const { network, folder } = mesh;
      await startRouter(mesh, await freePort());
      await network.allowAllRouters();
      const fileOf = (name: string): string => join(folder, `${name}.json`);
      for (const name of ['java', 'library']) {
        await network.run(`edge create identity ${name} -o ${name}.jwt`);
        await enroll({ tokenFile: join(folder, `${name}.jwt`), identityFile: fileOf(name) });
      }
      for (const [host, dialer] of [
        ['java', 'library'],
        ['library', 'java'],
      ]) {
        const service = `by-${host}`;
        await network.run(`edge create service ${service} --encryption ON`);
        const roles = (identity: string | undefined): string =>
          `--semantic AnyOf --service-roles @${service} --identity-roles @${identity}`;
        await network.run(`edge create service-policy ${service}-bind Bind ${roles(host)}`);
        await network.run(`edge create service-policy ${service}-dial Dial ${roles(dialer)}`);
      }
      library = await openOverlay({ identityFile: fileOf('library') });
      java = await JavaPeer.compile(folder, fileOf('java'));
    });
    afterEach((context) => {
      if (!('passed' in context) || context.passed !== false) return;
      for (const text of [java?.output, mesh?.ourOutput, mesh?.network.tail('controller')])
        console.error(text?.slice(-6_000));
    });
    after(async () => {
      java?.stop();
      await library?.close();
      await mesh?.stop();
    });

    test('it dials what the library hosts: 100 MB both ways, 100 short connections', { skip }, () =>
      java.proveDials(library, 'by-library'),
    );

    // OpenZiti's router ended the circuit of a host on this SDK in the middle ("xgress unrouted"), for a reason that is not known.
    const hostSkip =
      skip || where === OURS ? skip : "hosts on the Java SDK are not stable at OpenZiti's router";
    test('the library dials what it hosts: 100 MB both ways, 50 short connections', { skip: hostSkip }, () =>
      java.proveHosts(library, 'by-java'),
    );
  });
}
