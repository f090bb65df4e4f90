"""KIP-500: brokers and the quorum protect listeners in one way, and the controller knows who asks."""

import pytest

BROKERS = ("broker-0", "broker-1")


@pytest.mark.scene
@pytest.mark.topology("kraft-broker2-controller1-tls", brokers=2, controllers=1)
class TestSecurity:
    """Two brokers and a controller; every listener is encrypted, and clients log in."""

    @pytest.mark.requirement("K500-DEP-one-security-model")
    def test_nothing_is_said_in_plain(self, protocols_taken, claim, verify):
        """Each port of each node takes TLS, and no port takes anything else."""
        taken = protocols_taken()
        claim("how many ports nodes listen on", len(taken), 5)
        claim("ports that take plain text, or no TLS", [each for each in taken if taken[each] != {"SSL"}], [])
        verify()

    @pytest.mark.requirement("K500-API-forward-identity")
    def test_the_controller_knows_who_asked_a_broker(self, cluster, user_made, creation_as, claim, verify):
        """A user without rights asks each broker, which has all; the controller decides by the user."""
        stranger, admin = user_made("without-rights"), cluster.client_connection()
        refused = {each: creation_as(stranger, each) for each in BROKERS}
        claim("what a user without rights is answered", refused, dict.fromkeys(BROKERS, "TOPIC_AUTHORIZATION_FAILED"))
        claim("what a superuser is answered", {creation_as(admin, each) for each in BROKERS}, {"NONE"})
        verify()
