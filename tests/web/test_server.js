// A real server with a data directory of its own and made-up data, and a headless Chromium.

import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import puppeteer from 'puppeteer-core';

export const WAIT = 20_000;

export class Server {
  static async start(program, config = '') {
    const server = new Server();
    server.program = program;
    server.folder = await mkdtemp(join(tmpdir(), 'callsign-web-'));
    await mkdir(join(server.folder, 'backups'));
    await server.configure(config);
    server.environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('CALLSIGN_')));
    if (config.includes('[tls]')) server.certify();
    server.environment.CALLSIGN_MASTER_KEY = randomBytes(32).toString('hex');
    await server.run('127.0.0.1:0');
    server.operator = (await readFile(join(server.folder, 'data', 'admin.token'), 'utf8')).trim();
    return server;
  }

  // Creates a self-signed certificate.
  certify() {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
      '-subj', '/CN=127.0.0.1', '-keyout', join(this.folder, 'key.pem'), '-out', join(this.folder, 'cert.pem')],
    { stdio: 'ignore' });
  }

  // Writes the configuration, which applies from the next start. FOLDER stands for the server's folder.
  configure(config) {
    return writeFile(join(this.folder, 'callsign.toml'), config.replaceAll('FOLDER', this.folder));
  }

  async run(listen) {
    this.process = spawn(this.program, ['--config', join(this.folder, 'callsign.toml'), '--data-dir',
      join(this.folder, 'data'), '--listen', listen], { env: this.environment, stdio: ['ignore', 'pipe', 'ignore'] });
    this.ended = new Promise((resolve) => { this.process.on('exit', resolve); });
    const sign = 'callsignd listening on ';
    let url = '';
    for await (const line of createInterface({ input: this.process.stdout })) {
      // The token of the account that the first start creates.
      this.home = /TOKEN=(cs_\S+)/.exec(line)?.[1] ?? this.home;
      if (!line.startsWith(sign)) continue;
      url = line.slice(sign.length).trim();
      break;
    }
    if (!url) throw new Error('callsignd did not start');
    this.url = url;
    this.process.stdout.resume();
  }

  // Ends the server with a signal and starts it again with the same data and port.
  async restart(signal) {
    await this.end(signal);
    await this.run(new URL(this.url).host);
  }

  async end(signal) {
    this.process.kill(signal);
    await this.ended;
  }

  // Restores a backup with the command line, as an operator does.
  async restore(backup) {
    await this.end('SIGTERM');
    execFileSync(process.env.CALLSIGN, ['restore', backup, '--data-dir', join(this.folder, 'data'), '--yes'],
      { env: this.environment });
    await this.run(new URL(this.url).host);
    this.operator = (await readFile(join(this.folder, 'data', 'admin.token'), 'utf8')).trim();
  }

  async stop() {
    await this.end('SIGTERM');
    await rm(this.folder, { recursive: true });
  }

  async ask(method, path, token, body, headers = {}) {
    const response = await fetch(new URL(path, this.url), {
      method, body: body === undefined ? undefined : JSON.stringify(body),
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  // Creates an account. Returns { name, write, read }: its name and two tokens.
  async account(name, prefix) {
    const made = await this.ask('POST', '/v1/admin/accounts', this.operator, { name, prefix });
    const read = await this.ask('POST', `/v1/admin/accounts/${name}/tokens`, this.operator, { name: 'reader', scope: 'read' });
    return { name, write: made.token, read: read.token };
  }

  create(token, task, key = randomUUID()) {
    return this.ask('POST', '/v1/tasks', token, task, { 'Idempotency-Key': `"${key}"` });
  }
}

export async function openBrowser() {
  return puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    acceptInsecureCerts: true,  // for self-signed certificates
    // Chromium does not run with a sandbox as root.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-color-profile=srgb', '--lang=en-US'],
  });
}

const DAY = 86_400_000;
const inDays = (n) => new Date(Date.now() + n * DAY).toISOString();

// Tasks of a small bicycle shop.
export const TASKS = [
  { description: 'Order the Brooks saddles before the price goes up', project: 'Workshop.Parts', tags: ['buy'], due: inDays(2) },
  { description: 'True the back wheel of the blue tandem', project: 'Workshop', tags: ['wheel'], priority: 'H', due: inDays(-1) },
  { description: 'Write down how the freehub tool is used', project: 'Handbook', tags: ['writing'] },
  { description: 'Call Mrs Aydın about her frame: 54 or 56?', project: 'Orders', tags: ['call'], due: inDays(1) },
  { description: 'Bleed the brakes of the cargo bike', project: 'Workshop', tags: ['brake'] },
  { description: 'Rust on the demo rack: sand it, prime it, paint it', project: 'Shop', priority: 'L' },
  { description: 'Send the invoice for the club’s six gravel bikes', project: 'Orders', tags: ['office'], due: inDays(4) },
  { description: 'New inner tubes: 30 of 28″, 10 of 26″', project: 'Workshop.Parts', tags: ['buy'] },
  { description: 'Ask the baker next door whether the pump may stand at the wall', project: 'Shop' },
  { description: 'Replace the bottom bracket of the courier’s fixie', project: 'Workshop', tags: ['bearing'], priority: 'M' },
  { description: 'Take pictures of the finished randonneur', project: 'Orders', tags: ['photo'] },
  { description: 'Photograph the winter stock for the window', project: 'Shop', tags: ['photo'], wait: inDays(20) },
];
