/** The routers of the mesh, and the gateways of the installation: a list, and the creation of one, whose token is shown once. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { GATEWAYS, ROUTERS, type MeshNode, type NodeKind } from './node-kind.ts';
import { NodeState } from './node-state.tsx';

export function RoutersPage(): ReactNode {
  return <NodesPage kind={ROUTERS} />;
}

export function GatewaysPage(): ReactNode {
  return <NodesPage kind={GATEWAYS} />;
}

function NodesPage({ kind }: { readonly kind: NodeKind }): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<string | undefined>();
  return (
    <ListPage<MeshNode>
      title={text[kind.path]}
      actions={<Button onClick={() => setCreating(true)}>{text[kind.create]}</Button>}
      list={useList(kind.list, {}, { filters: [useNameFilter()] })}
      columns={[
        {
          id: 'name',
          title: text.name,
          isName: true,
          share: 1.5,
          sort: 'name',
          cell: ({ id, name }) => <Link to={`/mesh/${kind.path}/${id}`}>{name}</Link>,
        },
        { id: 'state', title: text.state, width: 12, cell: (node) => <NodeState node={node} /> },
        { id: 'version', title: text.version, width: 8, cell: ({ version }) => version ?? common.notKnown },
        { id: 'last', title: text[kind.lastColumn], cell: (node) => <LastCell kind={kind} node={node} /> },
      ]}
      keyOf={({ id }) => id}
    >
      {isCreating ? (
        <CreateNode
          kind={kind}
          onClose={() => setCreating(false)}
          onToken={(made) => {
            setCreating(false);
            setToken(made);
          }}
        />
      ) : null}
      <SecretOnceDialog
        title={text.enroll}
        facts={
          token === undefined
            ? undefined
            : [
                [text.token, token],
                [text.command, kind.enrollCommand],
              ]
        }
        onClose={() => setToken(undefined)}
      >
        <p>{text.enrollText}</p>
      </SecretOnceDialog>
    </ListPage>
  );
}

function LastCell({ kind, node }: { readonly kind: NodeKind; readonly node: MeshNode }): ReactNode {
  if (kind.lastColumn === 'created') return <TimeAgo at={node.createdAt} />;
  return 'edgeAddress' in node ? <span className="fd-mono">{node.edgeAddress}</span> : null;
}

function CreateNode(props: {
  readonly kind: NodeKind;
  readonly onClose: () => void;
  readonly onToken: (token: string) => void;
}): ReactNode {
  const text = useText(meshText);
  const { kind, onClose, onToken } = props;
  const [name, setName] = useState('');
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange(kind.operation, {
    refreshes: [kind.kind],
    onDone: ({ body }) => onToken(body.token),
  });
  return (
    <Dialog title={text[kind.create]} isOpen onClose={onClose} size="md">
      <Form
        fields={['name']}
        error={error}
        isPending={isPending}
        submit={text.create}
        onCancel={onClose}
        onSubmit={() => mutate({ body: { name }, idempotencyKey })}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
      </Form>
    </Dialog>
  );
}
