// The TypeScript client in the conformance kit.

import {createInterface} from 'node:readline';

import {Client, FolderStorage} from 'callsign-client';

const {CALLSIGN_DIR: folder, CALLSIGN_SERVER: url, CALLSIGN_TOKEN: token} = process.env;
const client = await Client.open({url, token, storage: new FolderStorage(folder)});

const actions = {
    add: async ({task}) => ({uuid: await client.add(task)}),
    edit: async ({uuid, set, addTags, removeTags}) => {
        await client.edit(uuid, {set, addTags, removeTags});
        return {};
    },
    complete: async ({uuid}) => (await client.complete(uuid), {}),
    annotate: async ({uuid, text}) => (await client.annotate(uuid, text), {}),
    sync: async () => {
        let error;
        await client.sync().catch((why) => { error = why.message; });
        return {pending: client.outbox.length, error};
    },
    follow: async () => {
        client.follow().catch((why) => { console.error(why); process.exit(1); });
        return {};
    },
    tasks: async () => ({tasks: [...client.tasks.values()]}),
    rejected: async () => ({entries: client.rejected}),
};

for await (const line of createInterface({input: process.stdin})) {
    const request = JSON.parse(line);
    const answer = await actions[request.do](request).catch((why) => ({error: why.message}));
    console.log(JSON.stringify(answer));
}
process.exit(0);
