// The verification of webhooks, with a request of the Standard Webhooks specification.

import assert from 'node:assert/strict';
import {test} from 'node:test';

import {verifyWebhook} from 'callsign-client';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = '{"test": 2432232314}';
const now = 1614265330_000;
const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

test('a signed request is accepted', () => {
    assert.deepEqual(verifyWebhook(secret, headers, body, {now}), {test: 2432232314});
    assert.deepEqual(verifyWebhook(secret, headers, Buffer.from(body), {now}), {test: 2432232314});
    const two = {...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']} v2,x`};
    assert.ok(verifyWebhook(['whsec_AAAA', secret], two, body, {now}), 'during a rotation');
});

test('another request is not', () => {
    const no = (given, text = body, at = now) =>
        assert.throws(() => verifyWebhook(secret, {...headers, ...given}, text, {now: at}));
    no({}, body + ' ');
    no({'webhook-id': 'other'});
    no({'webhook-id': undefined});
    no({'webhook-timestamp': '1614265331'});
    no({'webhook-timestamp': 'x'});
    no({'webhook-signature': undefined});
    no({'webhook-signature': headers['webhook-signature'].replace('v1', 'v2')});
    no({}, body, now + 301_000);
    no({}, body, now - 301_000);
    assert.throws(() => verifyWebhook('whsec_AAAA', headers, body, {now}));
});
