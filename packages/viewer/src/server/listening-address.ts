import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** What a machine is called. */
export interface MachineNames {
  readonly interfaces: NodeJS.Dict<readonly Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>;
  readonly name: string;
}

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '::1'];
const everyAddress: readonly string[] = ['0.0.0.0', '::'];

/** Whether only programs of this machine can connect to a host. */
export function isLoopback(host: string): boolean {
  return loopback.includes(host);
}

/**
 * The `Host` values of a server that listens at a host, which are the only ones that it answers. The first is the one to open. With
 * `0.0.0.0` or `::` they are the addresses of the machine, its name and `localhost`.
 */
export function hostsAt(host: string, port: number, machine: MachineNames = thisMachine()): string[] {
  const names = new Set([host]);
  if (host === '127.0.0.1' || host === '::1') names.add('localhost');
  if (everyAddress.includes(host)) {
    names.delete(host);
    const addresses = Object.values(machine.interfaces).flatMap((infos = []) => infos);
    const isReachable = ({ family }: { readonly family: string }) => family === 'IPv4' || host === '::';
    // Addresses of other machines' reach first: one of them is to be opened.
    for (const isInternal of [false, true])
      for (const info of addresses)
        if (info.internal === isInternal && isReachable(info) && !info.address.startsWith('fe80:'))
          names.add(info.address);
    for (const name of ['127.0.0.1', 'localhost', machine.name]) names.add(name);
  }
  return [...names].map((name) => `${name.includes(':') ? `[${name}]` : name.toLowerCase()}:${port}`);
}

function thisMachine(): MachineNames {
  return { interfaces: networkInterfaces(), name: hostname() };
}
