// The seccomp profile of the containers that print. `node tools/seccomp/compare.mjs <file>` compares the profile with
// the default profile of an engine.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { allowedBy, beyond, excess, type SeccompProfile } from '../../tools/seccomp/compare.mjs';

const profile = JSON.parse(readFileSync('deploy/seccomp.json', 'utf8')) as SeccompProfile;
const allowed = allowedBy(profile);

/** Engines deny these calls to a container without capabilities, in Docker 20.10, in Docker 29, or in both. */
const DENIED_BY_ENGINES =
  `_sysctl acct add_key afs_syscall bpf clock_settime create_module delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick
  get_kernel_syms get_mempolicy getpmsg init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load
  keyctl lookup_dcookie lsm_get_self_attr lsm_list_modules lsm_set_self_attr mbind migrate_pages mount mount_setattr move_mount move_pages
  name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root pkey_alloc pkey_free pkey_mprotect
  process_madvise process_vm_readv process_vm_writev ptrace putpmsg query_module quotactl quotactl_fd reboot request_key security
  set_mempolicy set_mempolicy_home_node setdomainname sethostname setns settimeofday stime swapoff swapon sysfs syslog tuxcall umount
  umount2 uselib userfaultfd ustat vhangup vserver`.split(/\s+/);

const NAMESPACES = {
  mount: 0x20000,
  cgroup: 0x2000000,
  uts: 0x4000000,
  ipc: 0x8000000,
  user: 0x10000000,
  process: 0x20000000,
  network: 0x40000000,
};
const namespacesOf = (name: string): string[] =>
  Object.entries(NAMESPACES).flatMap(([space, flag]) => (allowed.get(name)?.has(flag) ? [space] : []));

describe('deploy/seccomp.json', () => {
  it('denies a call that it does not name, and every call of another architecture', () => {
    expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(profile.archMap).toEqual([{ architecture: 'SCMP_ARCH_X86_64' }, { architecture: 'SCMP_ARCH_AARCH64' }]);
  });

  it("allows only calls that an engine's default profile allows, and those of user namespaces", () => {
    expect(DENIED_BY_ENGINES.filter((name) => allowed.has(name))).toEqual([]);
    expect(profile.syscalls.flatMap(({ names, action }) => (action === 'SCMP_ACT_ALLOW' ? [] : names))).toEqual([
      'clone3',
    ]);
  });

  it('lets the browser make the namespaces of its sandbox, except a mount namespace', () => {
    expect(namespacesOf('clone')).toEqual(['user', 'process', 'network']);
    expect(allowed.get('clone')?.has(0x70000000)).toBe(true);
    expect(allowed.get('clone')?.has(0x70020000)).toBe(false);
    expect([...allowed.get('unshare')!]).toEqual([NAMESPACES.user]);
    expect(allowed.has('chroot')).toBe(true);
  });

  it('refuses sockets for kernel cryptography, sockets to the host, and odd personalities', () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    // The kernel ignores the upper half of the register.
    for (const upper of [0, 2 ** 32])
      expect(families.filter((family) => !allowed.get('socket')?.has(upper + family))).toEqual([38, 40]);
    expect([...allowed.get('personality')!].sort((a, b) => a - b)).toEqual([0, 8, 0x20000, 0x20008, 0xffffffff]);
  });

  it('answers clone3 with ENOSYS, so that the C library uses clone', () => {
    expect(profile.syscalls.find(({ names }) => names.includes('clone3'))?.errnoRet).toBe(38);
  });
});

describe('the comparison of two profiles', () => {
  const without = (...names: string[]): SeccompProfile => ({
    ...profile,
    syscalls: profile.syscalls.filter(({ names: [name = ''] }) => !names.includes(name)),
  });
  const withRule = (...names: string[]): SeccompProfile => ({
    ...profile,
    syscalls: [...profile.syscalls, { names, action: 'SCMP_ACT_ALLOW' }],
  });

  it('accepts additional calls that user namespaces need', () => {
    const more = beyond(profile, without('unshare', 'chroot'));
    expect(more.map(({ name }) => name)).toEqual(['unshare', 'chroot']);
    expect(excess(more)).toEqual([]);
  });

  it('names every other additional call', () => {
    for (const name of ['mount', 'setns', 'ptrace', 'clone', 'unshare'])
      expect(excess(beyond(withRule(name), profile)).map((one) => one.name)).toEqual([name]);
  });
});
