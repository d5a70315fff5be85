/** The frame of the pages of the mesh. */
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../../api/session.tsx';
import { NotPermitted } from '../../parts/not-permitted.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export const MESH_PAGES = [
  'routers',
  'gateways',
  'links',
  'circuits',
  'services',
  'terminators',
  'inspect',
] as const;

export function MeshFrame(): ReactNode {
  const text = useText(meshText);
  const { may } = useSession();
  if (!may('listRouters')) return <NotPermitted />;
  return (
    <>
      <PageTabs
        label={text.pages}
        tabs={[
          ['/mesh', text.map, true],
          ...MESH_PAGES.map((page) => [`/mesh/${page}`, text[page]] as const),
        ]}
      />
      <Outlet />
    </>
  );
}
